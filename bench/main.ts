/**
 * Measures Petrichor and prints the figures beside their limits.
 *
 *     npm run bench [-- --json] [--quick] [--only NAME,NAME]
 *
 * Ends with 1 when a figure is missed that does not depend on the machine; not when quick, as times mean nothing then.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { getFigureStatus } from './figure.ts';
import type { Figure } from './figure.ts';
import { figureMappers } from './figures.ts';
import { isMeasurementName, measurements } from './measurements.ts';
import type { MeasurementName } from './measurements.ts';
import { formatTable } from './table.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    /** Makes the named measurements in this process and prints a line of JSON for each. */
    measure: { type: 'string' },
  },
});
const { json, quick } = options;

if (options.measure === undefined) await printFigures(parseNames(options.only));
else
  for (const name of parseNames(options.measure))
    console.log(JSON.stringify(await measurements[name]({ quick })));

async function printFigures(names: readonly MeasurementName[]): Promise<void> {
  const figures: Figure[] = [];
  // Each has a process of its own, so that none meets the garbage, the compiled code or the open
  // files of another. Quick times mean nothing, so one process is enough.
  for (const together of quick ? [names] : names.map((name) => [name])) {
    if (!json && process.stderr.isTTY) process.stderr.write(`${together.join(', ')} ...\n`);
    figures.push(...(await measureInChild(together)));
  }
  const withStatus = figures.map((figure) => ({ ...figure, verdict: getFigureStatus(figure) }));
  console.log(json ? JSON.stringify({ quick, figures: withStatus }) : formatTable(figures));
  const missed = withStatus.some(({ required, verdict }) => required && verdict === 'missed');
  if (missed && !quick) process.exitCode = 1;
}

async function measureInChild(names: readonly MeasurementName[]): Promise<readonly Figure[]> {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), '--measure', names.join(',')];
  if (quick) args.push('--quick');
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const lines = stdout.trim().split('\n');
  return names.flatMap((name, index) => figureMappers[name](JSON.parse(lines[index] ?? 'null')));
}

function parseNames(only: string | undefined): readonly MeasurementName[] {
  const names = only?.split(',') ?? Object.keys(measurements);
  return names.map((name) => {
    if (isMeasurementName(name)) return name;
    throw new Error(`There is no measurement "${name}": ${Object.keys(measurements).join(', ')}.`);
  });
}
