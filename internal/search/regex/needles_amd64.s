#include "textflag.h"

// MASKS leaves in out the buckets that each of the 32 bytes of in agrees with, by the
// tables low and high. Y6 is 0x0F throughout.
#define MASKS(in, low, high, out, tmp) \
	VPSRLW  $4, in, tmp;    \
	VPAND   Y6, in, out;    \
	VPAND   Y6, tmp, tmp;   \
	VPSHUFB out, low, out;  \
	VPSHUFB tmp, high, tmp; \
	VPAND   tmp, out, out

// BLOCK leaves in out the buckets whose whole windows begin at the 32 bytes from off on.
#define BLOCK(off, out) \
	VMOVDQU (off+0)(SI), Y8;      \
	MASKS(Y8, Y0, Y1, out, Y9);   \
	VMOVDQU (off+1)(SI), Y8;      \
	MASKS(Y8, Y2, Y3, Y10, Y9);   \
	VPAND   Y10, out, out;        \
	VMOVDQU (off+2)(SI), Y8;      \
	MASKS(Y8, Y4, Y5, Y10, Y9);   \
	VPAND   Y10, out, out

// func findWindow(p *byte, size int, nibbles *[6][32]uint8) int
TEXT ·findWindow(SB), NOSPLIT, $0-32
	MOVQ         p+0(FP), SI
	MOVQ         size+8(FP), CX
	MOVQ         nibbles+16(FP), DX
	MOVQ         SI, DI
	VMOVDQU      0(DX), Y0
	VMOVDQU      32(DX), Y1
	VMOVDQU      64(DX), Y2
	VMOVDQU      96(DX), Y3
	VMOVDQU      128(DX), Y4
	VMOVDQU      160(DX), Y5
	MOVL         $0x0F0F0F0F, AX
	VMOVD        AX, X6
	VPBROADCASTD X6, Y6
	VPXOR        Y7, Y7, Y7

loop:
	BLOCK(0, Y11)
	BLOCK(32, Y12)
	VPOR  Y11, Y12, Y13
	VPTEST Y13, Y13
	JNZ   found
	ADDQ  $64, SI
	SUBQ  $64, CX
	JNZ   loop
	MOVQ  size+8(FP), AX
	VZEROUPPER
	MOVQ  AX, ret+24(FP)
	RET

found:
	VPCMPEQB  Y7, Y11, Y11
	VPCMPEQB  Y7, Y12, Y12
	VPMOVMSKB Y11, AX
	VPMOVMSKB Y12, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	NOTQ      AX
	BSFQ      AX, AX
	SUBQ      DI, SI
	ADDQ      SI, AX
	VZEROUPPER
	MOVQ      AX, ret+24(FP)
	RET
