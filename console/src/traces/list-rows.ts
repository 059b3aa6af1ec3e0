import type { Invocation, Span } from './read-trace.ts';

/** A row of the table: an invocation, or one of its spans. */
export interface TraceRow {
  readonly invocation: Invocation;
  readonly span: Span | undefined;
}

/** Returns the rows to show. With a text, only spans that contain it, and their invocations. */
export function listRows(
  invocations: readonly Invocation[],
  { text, closed }: { readonly text: string; readonly closed: ReadonlySet<string> },
): readonly TraceRow[] {
  const wanted = text.trim().toLowerCase();
  return invocations.flatMap((invocation): readonly TraceRow[] => {
    const head = { invocation, span: undefined };
    if (wanted === '')
      return closed.has(invocation.id)
        ? [head]
        : [head, ...invocation.spans.map((span) => ({ invocation, span }))];
    const isFound = invocation.text.toLowerCase().includes(wanted);
    const spans = invocation.spans.filter((span) => contains(span, wanted));
    if (spans.length === 0 && !isFound) return [];
    return [head, ...spans.map((span) => ({ invocation, span }))];
  });
}

function contains({ name, transition, input, output, outcome }: Span, wanted: string): boolean {
  const words = [name, transition, outcome ?? '', toText(input), toText(output)];
  return words.some((word) => word.toLowerCase().includes(wanted));
}

function toText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}
