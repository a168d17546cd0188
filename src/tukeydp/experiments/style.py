"""How the report looks: light or dark as the reader has it, panels that wrap, nothing wider than the window."""

from __future__ import annotations

# Wide tables scroll inside `.wide`; the page itself never does. A picture fills the window while its address is the
# page's target (`figure:target`), and its link "Close" leads back to its section.
STYLE = """
:root{color-scheme:light dark;--ink:#1d1d1f;--soft:#5b5b61;--line:#dcdce1;--page:#fff;--card:#f6f6f8;--link:#0b57d0;
--yes:#1a7f37;--no:#b3261e;--open:#8a6100}
@media (prefers-color-scheme:dark){:root{--ink:#e9e9ec;--soft:#a9a9b2;--line:#3a3a41;--page:#17171a;--card:#212126;
--link:#8ab4f8;--yes:#5fd07e;--no:#ff8a80;--open:#e6b450}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:72rem;margin:0 auto;
padding:1.5rem 1rem 4rem;overflow-wrap:anywhere}
a{color:var(--link)}h1,h2{line-height:1.2}p,.claims{max-width:52rem}small,.place,figcaption,.numbers{color:var(--soft)}
section{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.5rem}
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-size:.9rem}
caption{text-align:left;color:var(--soft);padding-bottom:.4rem;max-width:min(52rem,calc(100vw - 2.5rem))}
td,th{padding:.25rem .7rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}td{white-space:pre}.number{text-align:right;font-variant-numeric:tabular-nums}
.tally td{font-size:1.1rem}
.yes{color:var(--yes)}.no{color:var(--no)}.open{color:var(--open)}
.contents{padding-left:1.2rem;columns:22rem auto}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;margin:1rem 0}
figure{margin:0;max-width:32rem}figure img{display:block;width:100%;height:auto;background:#fff;border-radius:6px}
figure a.open{display:block;cursor:zoom-in}figure a.close{display:none}
figure:target{max-width:none;position:fixed;inset:0;z-index:1;overflow:auto;background:var(--page);padding:.5rem}
figure:target a.close{display:inline-block;position:sticky;left:0;top:0;padding:.5rem 1rem;background:var(--card);
border-radius:6px;margin-bottom:.5rem}figure:target img{width:auto;min-width:min(100%,46rem);max-width:none}
.claims{list-style:none;padding:0}.claims>li{background:var(--card);border-left:4px solid currentColor;
border-radius:4px;padding:.6rem .8rem;margin:.5rem 0}.claims>li>span:not(.verdict):not(.whose){color:var(--ink)}
.verdict{font-weight:600}.whose{color:var(--soft);border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;
font-size:.8rem}.numbers{font-size:.85rem;margin:.3rem 0 0;padding-left:1.1rem}
details{margin:.5rem 0;color:var(--ink)}summary{cursor:pointer}
"""
