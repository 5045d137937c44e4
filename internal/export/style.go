package export

// style is the page's whole look. It follows the reader's choice between light and dark, and prints.
const style = `
:root{color-scheme:light dark;--bg:#fbfaf8;--card:#fff;--ink:#1f2328;--dim:#656d76;--line:#e3e0da;--soft:#f4f2ee;
--you:#eef3fb;--youline:#c8d8ef;--accent:#2f5fb3;--bad:#b3261e;--add:#e2f5e5;--addink:#155d27;--del:#fbe7e6;--delink:#8c1d18}
@media (prefers-color-scheme:dark){:root{--bg:#16181c;--card:#1d2025;--ink:#dfe2e6;--dim:#9098a3;--line:#32363d;--soft:#23272d;
--you:#1f2a3a;--youline:#34465f;--accent:#8ab4f8;--bad:#ff8a80;--add:#173323;--addink:#9be0ae;--del:#3b1f20;--delink:#f5b0ab}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header,main{max-width:54rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.5rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
dl{display:flex;flex-wrap:wrap;gap:.35rem 1.5rem;margin:0 0 1.75rem;padding-bottom:1.25rem;border-bottom:1px solid var(--line);font-size:.85rem}
dl div{display:flex;gap:.45rem}
dt{color:var(--dim)}
dd{margin:0}
section{margin:0 0 1.5rem}
h2{font-size:.78rem;font-weight:600;letter-spacing:.04em;color:var(--dim);margin:0 0 .35rem}
h4{font-size:1.02rem;margin:1.1rem 0 .35rem}
p{margin:0 0 .75rem;white-space:pre-wrap}
p:last-child{margin-bottom:0}
a{color:var(--accent)}
.person{background:var(--you);border:1px solid var(--youline);border-radius:.6rem;padding:.8rem 1rem}
.person h2{color:var(--accent)}
pre,code,h3 span{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.84rem;line-height:1.5}
code{background:var(--soft);border-radius:.25rem;padding:.1em .3em}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.45rem;padding:.6rem .8rem;margin:.5rem 0;overflow-x:auto;white-space:pre;tab-size:4;overflow-wrap:normal}
pre.result,.notice pre{white-space:pre-wrap;overflow-wrap:anywhere}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--dim);font-size:.85rem;width:fit-content}
summary:hover{color:var(--ink)}
summary small{margin-left:.4rem}
.thinking{border-left:3px solid var(--line);padding-left:.9rem;color:var(--dim)}
.call{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.6rem .9rem;margin:.75rem 0}
.call>:last-child{margin-bottom:.15rem}
h3{font-size:.9rem;font-weight:600;margin:0 0 .2rem}
h3 b{font-size:.75rem;font-weight:600;margin-left:.4rem}
.bad,.problem{color:var(--bad)}
.added{color:var(--addink)}
.removed{color:var(--delink)}
.diff{padding:.4rem 0}
.diff>*{display:inline-block;min-width:100%;padding:0 .8rem;text-decoration:none;font-style:normal}
.diff ins{background:var(--add);color:var(--addink)}
.diff del{background:var(--del);color:var(--delink)}
.diff i{color:var(--dim)}
.notice{border-left:3px solid var(--line);padding-left:.9rem}
.notice pre{background:none;border:0;padding:0;margin:0;color:var(--dim)}
.summary{border-top:1px dashed var(--dim);padding-top:.5rem}
.remark{color:var(--dim);font-size:.85rem;text-align:center;margin:1.25rem 0}
.remark.problem{color:var(--bad)}
img{display:block;max-width:100%;border-radius:.45rem;margin:.5rem 0}
main{padding-bottom:4rem}
@media print{body{background:none}.call{break-inside:avoid}}
`
