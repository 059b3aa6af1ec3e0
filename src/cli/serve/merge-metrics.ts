import type { WorkerText } from './worker-message.ts';

/** Counts of what is in the store, which are the same for every worker. */
const OF_THE_STORE: ReadonlySet<string> = new Set(['petrichor_sessions']);

interface Family {
  /** The lines with HELP and TYPE. */
  readonly head: readonly string[];
  readonly samples: string[];
}

/**
 * One text in the format of Prometheus for several workers. Each sample has the label `worker`, so that the restart of
 * one is a reset of its own series only. What is counted in the store is taken from the first text.
 */
export function mergeMetrics(texts: readonly WorkerText[]): string {
  const families = new Map<string, Family>();
  for (const [index, { worker, text }] of texts.entries()) {
    let name = '';
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (line.startsWith('#')) {
        name = line.split(' ')[2] ?? '';
        const family = families.get(name) ?? { head: [], samples: [] };
        families.set(
          name,
          index === 0 ? { ...family, head: [...family.head, line] } : withHead(family, line),
        );
      } else if (!OF_THE_STORE.has(name))
        families.get(name)?.samples.push(withWorker(line, worker));
      else if (index === 0) families.get(name)?.samples.push(line);
    }
  }
  return [...families.values()]
    .flatMap(({ head, samples }) => [...head, ...samples])
    .map((line) => `${line}\n`)
    .join('');
}

/** A family that the first text does not have gets its head from the first one that has it. */
function withHead(family: Family, line: string): Family {
  return family.head.includes(line) || family.samples.length > 0
    ? family
    : { ...family, head: [...family.head, line] };
}

function withWorker(sample: string, worker: number): string {
  const [, name = '', labels, rest = ''] = /^([\w:]+)(?:\{(.*)\})?( .*)$/.exec(sample) ?? [];
  const own = `worker="${worker}"`;
  return `${name}{${labels === undefined ? own : `${labels},${own}`}}${rest}`;
}
