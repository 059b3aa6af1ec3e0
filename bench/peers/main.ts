/**
 * Measures Petrichor and its peers side by side, and prints the tables.
 *
 *     npm run bench --prefix bench/peers [-- --only COLUMN,COLUMN] [--peers NAME,NAME] [--rounds N] [--quick] [--write]
 *
 * `--write` puts the tables into docs/comparison.md; it needs all columns and all peers.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { columnNames, columns, mergeRounds, type ColumnName, type Measured } from './columns.ts';
import { loadPeer, peerNames } from './peers.ts';
import { installPetrichor } from './petrichor-package.ts';
import { formatReport, type MeasuredPeer } from './report.ts';
import { runMeasurement } from './run-measurement.ts';
import { versionOf } from './versions.ts';
import { writeTables } from './write-tables.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    peers: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const names = select(options.only, columnNames, 'column');
const subjects = select(options.peers, peerNames, 'peer');
const rounds = options.quick ? 1 : Number(options.rounds);
if (!Number.isInteger(rounds) || rounds < 1)
  throw new RangeError(`--rounds is "${options.rounds}". Give a whole number of 1 or more.`);
if (options.write && (options.quick || options.only !== undefined || options.peers !== undefined))
  throw new Error(
    '--write needs all columns and all peers, and is not quick. Leave the others out.',
  );

const startedAt = Date.now();
installPetrichor();
const measured = new Map<string, Map<ColumnName, (Measured | null)[]>>();
for (let round = 0; round < rounds; round++)
  for (const column of names) {
    if (round > 0 && !columns[column].everyRound) continue;
    // Each round begins with another peer, so that none always follows the same one.
    const at = round % subjects.length;
    const inTurn = [...subjects.slice(at), ...subjects.slice(0, at)];
    if (columns[column].atOnce === true)
      await Promise.all(inTurn.map(async (peer) => measure(peer, column, round)));
    else for (const peer of inTurn) await measure(peer, column, round);
  }

const peers: MeasuredPeer[] = [];
for (const name of subjects) {
  const { durable } = await loadPeer(name);
  const figures = Object.fromEntries(
    [...(measured.get(name) ?? [])].map(([column, results]) => [column, mergeRounds(results)]),
  );
  peers.push({ name, version: versionOf(name), durable, figures });
}
const report = [describeRun(), formatReport(peers)].join('\n\n');
console.log(report);
if (options.write) writeTables(report);
// Some packages leave timers that keep a process alive.
process.exit();

async function measure(peer: string, column: ColumnName, round: number): Promise<void> {
  if (process.stderr.isTTY) process.stderr.write(`round ${round + 1}: ${column}, ${peer}\n`);
  const ofPeer = measured.get(peer) ?? new Map<ColumnName, (Measured | null)[]>();
  measured.set(peer, ofPeer);
  try {
    const result = await runMeasurement(peer, column, options);
    ofPeer.set(column, [...(ofPeer.get(column) ?? []), result]);
  } catch (error) {
    // The other figures are still worth having. The table says which one is missing.
    process.stderr.write(`${column}, ${peer}: ${String(error).slice(0, 2000)}\n`);
    process.exitCode = 1;
  }
}

function describeRun(): string {
  const date = new Date().toISOString().slice(0, 10);
  const versions = peers.map(({ name, version }) => `\`${name}\` ${version}`).join(', ');
  const minutes = Math.max(1, Math.round((Date.now() - startedAt) / 60_000));
  const disk = peers.flatMap(({ figures }) => {
    const rate = figures.durable?.['diskRate'];
    return typeof rate === 'number' ? [rate] : [];
  });
  const diskRate =
    disk.length === 0
      ? ''
      : ` The disk appended and synced 8 KB ${Math.round(Math.min(...disk)).toLocaleString('en')} to ${Math.round(Math.max(...disk)).toLocaleString('en')} times a second.`;
  return `Measured on ${date} in ${minutes} min, Node ${process.versions.node}, ${cpus().length} cores, ${rounds === 1 ? 'one round' : `medians of ${rounds} rounds`}: ${versions}.${diskRate} In parentheses: the figure divided by Petrichor’s.`;
}

function select<Name extends string>(
  text: string | undefined,
  all: readonly Name[],
  what: string,
): readonly Name[] {
  if (text === undefined) return all;
  return text.split(',').map((name) => {
    const found = all.find((one) => one === name);
    if (found === undefined) throw new Error(`There is no ${what} "${name}": ${all.join(', ')}.`);
    return found;
  });
}
