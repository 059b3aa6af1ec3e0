import type { ContestInstance } from './published.ts';

/** Returns the row of an instance in docs/conformance/contest.md, without the padding of columns. */
export function toRow({ name, published, colored, quick }: ContestInstance): string {
  const { markings, arcs, maxInPlace, maxInMarking, hasDeadlock } = published;
  const cells = [
    name,
    ...[markings, arcs, maxInPlace, maxInMarking].map((n) => n.toLocaleString('en-US')),
    hasDeadlock ? 'yes' : 'no',
    colored === undefined ? 'P/T' : 'P/T and colored',
    quick ? 'test' : 'long',
  ];
  return `| ${cells.join(' | ')} |`;
}
