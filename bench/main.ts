/**
 * Measures Petrichor and prints the figures beside their limits. Each measurement has a process of its own.
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
    /** Makes one measurement in this process and prints what it gave. */
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
  for (const name of names) {
    if (!json && process.stderr.isTTY) process.stderr.write(`${name} ...\n`);
    figures.push(...(await inProcessOfItsOwn(name)));
  }
  const withStatus = figures.map((figure) => ({ ...figure, verdict: getFigureStatus(figure) }));
  console.log(json ? JSON.stringify({ quick, figures: withStatus }) : formatTable(figures));
  const missed = withStatus.some(({ required, verdict }) => required && verdict === 'missed');
  if (missed && !quick) process.exitCode = 1;
}

/** So that none meets the garbage, the compiled code or the open files of another. */
async function inProcessOfItsOwn(name: MeasurementName): Promise<readonly Figure[]> {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), '--measure', name];
  if (quick) args.push('--quick');
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return figureMappers[name](JSON.parse(stdout));
}

function parseNames(only: string | undefined): readonly MeasurementName[] {
  const names = only?.split(',') ?? Object.keys(measurements);
  return names.map((name) => {
    if (isMeasurementName(name)) return name;
    throw new Error(`There is no measurement "${name}": ${Object.keys(measurements).join(', ')}.`);
  });
}
