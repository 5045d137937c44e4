# Prints which code points each version of Unicode up to 14.0 assigned, as Perl knows it:
#   age 1.1|v11: lo-hi lo-hi …
use strict; use warnings; no warnings 'surrogate';
my @versions = qw(1.1 2.0 2.1 3.0 3.1 3.2 4.0 4.1 5.0 5.1 5.2 6.0 6.1 6.2 6.3 7.0 8.0 9.0 10.0 11.0 12.0 12.1 13.0 14.0);
for my $v (@versions) {
    my $re = qr/\p{Age=$v}/;
    my $start = -1;
    (my $alias = $v) =~ tr/.//d;
    print "age $v|v$alias:";
    for my $c (0 .. 0x110000) {
        my $in = $c <= 0x10FFFF && !($c >= 0xD800 && $c <= 0xDFFF) && chr($c) =~ $re;
        if ($in) { $start = $c if $start < 0 }
        elsif ($start >= 0) { printf " %x-%x", $start, $c - 1; $start = -1 }
    }
    print "\n";
}
