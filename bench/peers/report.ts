import type { ColumnName, Measured } from './columns.ts';

/** What was measured of a peer. Null where there is nothing to measure; undefined where it was not measured. */
export type PeerFigures = Readonly<Partial<Record<ColumnName, Measured | null>>>;

export interface MeasuredPeer {
  readonly name: string;
  readonly version: string;
  readonly durable: string | undefined;
  readonly figures: PeerFigures;
}

interface Bar {
  readonly title: string;
  readonly column: ColumnName;
  readonly value: (measured: Measured) => number;
  readonly unit?: string;
  readonly better: 'more' | 'less';
}

interface TextBar {
  readonly title: string;
  readonly column: ColumnName;
  readonly text: (measured: Measured) => string;
}

interface Table {
  readonly title: string;
  readonly bars: readonly (Bar | TextBar)[];
}

const figure = (measured: Measured, name: string): number => Number(measured[name]);

const tables: readonly Table[] = [
  {
    title: 'Speed in memory',
    bars: [
      bar('fresh sessions, turns/s', 'fresh', 'turnsPerSecond', 'more'),
      bar('CPU of a turn', 'fresh', 'cpuMs', 'less', 'ms'),
      {
        title: 'CPU of turns 181-200 against 1-20',
        column: 'growth',
        value: (measured) => figure(measured, 'lateCpuMs') / figure(measured, 'earlyCpuMs'),
        better: 'less',
      },
      bar('text pieces/s', 'deltas', 'deltasPerSecond', 'more'),
      bar('two tools of 100 ms', 'tools', 'toolsMs', 'less', 'ms'),
      bar('heap of a session after a turn', 'heap', 'heapKb', 'less', 'KB'),
    ],
  },
  {
    title: 'Stored sessions',
    bars: [
      bar('fresh sessions, turns/s', 'durable', 'turnsPerSecond', 'more'),
      bar('CPU of a turn', 'durable', 'cpuMs', 'less', 'ms'),
      bar('written, first turn', 'bytes', 'firstWrittenKb', 'less', 'KB'),
      bar('written, turns 91-100', 'bytes', 'lateWrittenKb', 'less', 'KB'),
      bar('kept, first turn', 'bytes', 'firstKeptKb', 'less', 'KB'),
      bar('kept, turns 91-100', 'bytes', 'lateKeptKb', 'less', 'KB'),
    ],
  },
  {
    title: 'Crashes, approvals, aborts',
    bars: [
      {
        title: 'finished tool, runs after `kill -9`',
        column: 'kill',
        text: (measured) => String(measured['redone']),
      },
      {
        title: 'lost by `kill -9`',
        column: 'kill',
        text: ({ lost }) => (Array.isArray(lost) && lost.length > 0 ? lost.join(', ') : 'nothing'),
      },
      { title: 'resumes', column: 'kill', text: (measured) => String(measured['resumed']) },
      {
        title: 'call approved by two processes, runs of its tool',
        column: 'approvals',
        text: (measured) => String(measured['toolRuns']),
      },
      {
        title: 'abort while a tool ignores it',
        column: 'abort',
        text: ({ abortMs }) =>
          typeof abortMs === 'number' ? `${numeral(abortMs)} ms` : 'waits for the tool',
      },
    ],
  },
  {
    title: 'Size, import, program',
    bars: [
      bar('installed packages', 'packages', 'packages', 'less'),
      bar('installed size', 'packages', 'installedMb', 'less', 'MB'),
      bar('import, CPU', 'import', 'importCpuMs', 'less', 'ms'),
      bar('files loaded', 'import', 'files', 'less'),
      bar('lines of a program', 'lines', 'lines', 'less'),
    ],
  },
];

function bar(
  title: string,
  column: ColumnName,
  name: string,
  better: Bar['better'],
  unit?: string,
): Bar {
  const value = (measured: Measured): number => figure(measured, name);
  return { title, column, value, better, ...(unit !== undefined && { unit }) };
}

/** The tables as Markdown, with what was measured only, and where the first peer of the list is not first. */
export function formatReport(peers: readonly MeasuredPeer[]): string {
  const shown = tables
    .map(({ title, bars }) => ({
      title,
      bars: bars.filter(({ column }) => peers.some(({ figures }) => figures[column] !== undefined)),
    }))
    .filter(({ bars }) => bars.length > 0);
  const parts = shown.map((table) => `### ${table.title}\n\n${formatTable(table, peers)}`);
  return [...parts, formatNotFirst(shown, peers)].filter((part) => part !== '').join('\n\n');
}

function formatTable({ title, bars }: Table, peers: readonly MeasuredPeer[]): string {
  const [own] = peers;
  const durableOnly = title === 'Stored sessions';
  const rows = peers
    .filter(({ durable }) => !durableOnly || durable !== undefined)
    .map((peer) => [
      `\`${peer.name}\`${durableOnly ? `: ${peer.durable}` : ''}`,
      ...bars.map((one) => formatCell(one, peer, own)),
    ]);
  return [
    ['package', ...bars.map((one) => one.title)],
    ['---', ...bars.map((one) => ('value' in one ? '---:' : '---'))],
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** The figure, and what it is of the first peer's figure. */
function formatCell(one: Bar | TextBar, peer: MeasuredPeer, own: MeasuredPeer | undefined): string {
  const measured = peer.figures[one.column];
  if (measured === undefined) return 'not measured';
  if (measured === null) return '-';
  if ('text' in one) return one.text(measured);
  const value = one.value(measured);
  if (!Number.isFinite(value)) return 'not measured';
  const text = `${one.unit === undefined && one.column === 'growth' ? '× ' : ''}${numeral(value)}${one.unit === undefined ? '' : ` ${one.unit}`}`;
  const ownMeasured = own?.figures[one.column];
  if (peer === own || ownMeasured === undefined || ownMeasured === null) return text;
  const ratio = value / one.value(ownMeasured);
  return one.column === 'growth' || !Number.isFinite(ratio)
    ? text
    : `${text} (× ${numeral(ratio)})`;
}

/** Two figures that differ by less are not put in an order. */
const SAME = 1.03;

function formatNotFirst(shown: readonly Table[], peers: readonly MeasuredPeer[]): string {
  const [own, ...others] = peers;
  if (own === undefined || others.length === 0) return '';
  const lines = shown.flatMap(({ title, bars }) =>
    bars.flatMap((one) => {
      const line = 'value' in one ? describeLead(one, own, others) : undefined;
      return line === undefined ? [] : [`- ${title}, ${one.title}: ${line}`];
    }),
  );
  return lines.length === 0
    ? 'Petrichor is first in every column.'
    : `Petrichor is not first in:\n\n${lines.join('\n')}`;
}

function describeLead(
  { column, value, unit, better }: Bar,
  own: MeasuredPeer,
  others: readonly MeasuredPeer[],
): string | undefined {
  const ownMeasured = own.figures[column];
  if (ownMeasured === undefined || ownMeasured === null) return undefined;
  const ownValue = value(ownMeasured);
  const ahead = others.flatMap(({ name, figures }) => {
    const measured = figures[column];
    if (measured === undefined || measured === null) return [];
    const other = value(measured);
    const lead = better === 'more' ? other / ownValue : ownValue / other;
    return lead > SAME ? [{ name, other, lead }] : [];
  });
  if (ahead.length === 0) return undefined;
  const withUnit = (n: number): string => `${numeral(n)}${unit === undefined ? '' : ` ${unit}`}`;
  return `${ahead
    .toSorted((a, b) => b.lead - a.lead)
    .map(({ name, other }) => `\`${name}\` ${withUnit(other)}`)
    .join(', ')} against ${withUnit(ownValue)}`;
}

/** Three figures at most, and thousands apart. */
function numeral(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
