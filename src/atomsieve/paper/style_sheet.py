"""How the web page of the report looks: on a screen, in the dark, on a phone, on paper."""

STYLE_SHEET = """
:root {
  --paper: #fff; --ink: #1d1d1f; --quiet: #57606a; --line: #d5d8dc; --stripe: #f6f7f8; --link: #0a58b5;
  --holds: #146c34; --holds-back: #def3e4; --fails: #b3261e; --fails-back: #fbe3e1; --open: #7a5200;
  --open-back: #fbefcf;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #16181b; --ink: #e4e6e9; --quiet: #a0a7b0; --line: #3a3f46; --stripe: #1e2125; --link: #7db7ff;
    --holds: #7ee2a0; --holds-back: #153a24; --fails: #ff9d94; --fails-back: #4a1c1a; --open: #f3cb6b;
    --open-back: #42340f;
  }
  figure img { border-radius: 6px; filter: brightness(.92); }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { background: var(--paper); color: var(--ink); margin: 0;
  font: 17px/1.55 Charter, "Bitstream Charter", Cambria, Georgia, serif; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
main { margin: 0 auto; max-width: 52rem; padding: 2.5rem 1.4rem 6rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1.2rem; }
h2 { border-top: 1px solid var(--line); font-size: 1.4rem; line-height: 1.25; margin: 3.5rem 0 .8rem;
  padding-top: 1.4rem; }
h3 { font-size: 1.08rem; margin: 2rem 0 .5rem; }
sup { font-size: .72em; line-height: 0; }
code { font-size: .85em; }
figure { margin: 1.8rem 0; }
figure img { display: block; height: auto; margin: 0 auto; max-width: 100%; }
figure .scroll { margin: 0; }
figcaption { color: var(--quiet); font-size: .9rem; line-height: 1.45; margin: .7rem 1rem 0; }

nav, .cards, .badge, .tally, th { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav b { font-weight: 600; }
.tally { font-size: .85em; white-space: nowrap; }
.holds { --tone: var(--holds); --back: var(--holds-back); }
.fails { --tone: var(--fails); --back: var(--fails-back); }
.open { --tone: var(--open); --back: var(--open-back); }
.tally span { color: var(--tone); margin-right: .35em; }
.badge { background: var(--back); border: 1px solid var(--tone); border-radius: 1em; color: var(--tone);
  display: inline-block;
  font-size: .74rem; font-weight: 600; line-height: 1.5; padding: 0 .6em; print-color-adjust: exact; }

.cards { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1.2rem 0; }
.card { background: var(--back, var(--stripe)); border: 1px solid var(--tone, var(--line)); border-radius: 8px;
  color: var(--tone, var(--ink)); cursor: pointer; flex: 1 1 7rem; font-size: .85rem; line-height: 1.2;
  padding: .6rem .8rem;
  print-color-adjust: exact; }
.card b { display: block; font-size: 1.7rem; font-weight: 650; }
.card input { opacity: 0; position: absolute; }
.card:has(:checked) { box-shadow: 0 0 0 2px var(--tone, var(--quiet)); }
.card:has(:focus-visible) { outline: 2px solid var(--link); outline-offset: 3px; }

.scroll { margin: 1rem 0 2rem; overflow-x: auto; }
table { border-bottom: 1px solid var(--quiet); border-collapse: collapse; border-top: 2px solid var(--ink);
  font-size: .82rem;
  line-height: 1.4; width: 100%; }
th { border-bottom: 1px solid var(--quiet); font-size: .74rem; font-weight: 600; line-height: 1.3; }
td, th { padding: .3rem .55rem; text-align: left; vertical-align: top; }
td.number { font-variant-numeric: lining-nums tabular-nums; white-space: nowrap; }
tbody tr:nth-child(even) { background: var(--stripe); }
table.verdicts td:first-child, table.verdicts td:last-child { white-space: nowrap; }
table.verdicts tbody tr { background: none; border-top: 1px solid var(--line); }
table.verdicts a { text-decoration-color: var(--line); }

.claims { list-style: none; margin: .6rem 0 0; padding: 0; }
.claims li { border-left: 3px solid var(--line); line-height: 1.45; margin: 0 0 1.1rem; padding: .1rem 0 .1rem .9rem;
  font-size: .93rem; scroll-margin-top: 4rem; }
.claims li:has(.badge.holds) { border-color: var(--holds); }
.claims li:has(.badge.fails) { border-color: var(--fails); }
.claims li:has(.badge.open) { border-color: var(--open); }
.claims li:target { background: var(--stripe); box-shadow: 0 0 0 .5rem var(--stripe); }
.claims b { font-weight: 650; }
.claims p { margin: .25rem 0 0; }
.where { color: var(--quiet); font-size: .85em; margin-left: .4em; }

@media screen {
  body:has(#show-holds:checked) table.verdicts tbody tr:not(.holds),
  body:has(#show-fails:checked) table.verdicts tbody tr:not(.fails),
  body:has(#show-open:checked) table.verdicts tbody tr:not(.open) { display: none; }
}
@media screen and (min-width: 75rem) {
  nav { border-right: 1px solid var(--line); bottom: 0; font-size: .84rem; left: 0; line-height: 1.35;
    overflow-y: auto;
    padding: 2.6rem 1.2rem 2rem 1.4rem; position: fixed; top: 0; width: 17rem; }
  nav li { margin-bottom: .75rem; }
  nav .tally { display: block; }
  main { margin: 0 auto; max-width: 55rem; padding-left: 2rem; transform: none; }
  body { padding-left: 17rem; }
}
@media screen and (max-width: 74.99rem) {
  html { scroll-padding-top: 3.5rem; }
  nav { background: var(--paper); border-bottom: 1px solid var(--line); font-size: .84rem; overflow-x: auto;
    padding: .6rem 1.2rem;
    position: sticky; top: 0; white-space: nowrap; z-index: 1; }
  nav ul { display: flex; gap: 1.3rem; }
  nav .rest { display: none; }
  nav .tally { margin-left: .4em; }
}
@media screen and (max-width: 40rem) {
  body { font-size: 16px; }
  main { padding: 1.4rem 1rem 4rem; }
  h1 { font-size: 1.5rem; }
  figure .scroll { margin: 0; }
figcaption { margin: .6rem 0 0; }
  figure img { max-width: none; min-width: 32rem; width: 32rem; }
  .card { flex-basis: 40%; }
  table.verdicts thead { display: none; }
  table.verdicts tr { border-bottom: 1px solid var(--line); display: block; padding: .5rem 0; }
  table.verdicts td { border: 0; display: block; padding: .1rem .4rem; }
  table.verdicts td:nth-child(3) { color: var(--quiet); display: inline-block; }
  table.verdicts td:nth-child(4) { display: inline-block; }
  body:has(#show-all:checked) table.verdicts tr { display: block; }
}
@media print {
  @page { margin: 18mm 16mm; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  nav { border-bottom: 1px solid var(--line); font-size: 9pt; margin-bottom: 6mm; padding-bottom: 3mm; }
  .hint, .card input { display: none; }
  .card:has(:checked) { box-shadow: none; }
  .scroll { overflow: visible; }
  table { font-size: 8.5pt; }
  figure, tr, .claims li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
}
""".strip()
