import { isDeepStrictEqual } from 'node:util';
import type { Request, Run } from './normalize.ts';

/** One difference between the two packages. */
export interface Difference {
  readonly program: string;
  /** For example `request.systemInstruction` or `event.actions.stateDelta`. */
  readonly field: string;
  /** Where it is, for example `request 2 of desk`. */
  readonly where: string;
  readonly stock: unknown;
  readonly petrichor: unknown;
}

/** Lists the differences of two outcomes of one program. */
export function compareRuns(program: string, stock: Run, petrichor: Run): readonly Difference[] {
  return [
    ...compareRequests(stock.requests, petrichor.requests),
    ...stock.turns.flatMap((events, turn) =>
      compareEvents(`turn ${turn + 1}`, events, petrichor.turns[turn] ?? []),
    ),
    ...compareField('state', 'the session', stock.state, petrichor.state),
    ...compareField('error', 'the run', stock.errors, petrichor.errors),
  ].map((difference) => ({ program, ...difference }));
}

type Found = Omit<Difference, 'program'>;

function compareField(
  field: string,
  where: string,
  stock: unknown,
  petrichor: unknown,
): readonly Found[] {
  return isDeepStrictEqual(stock, petrichor) ? [] : [{ field, where, stock, petrichor }];
}

function compareRequests(
  stock: readonly Request[],
  petrichor: readonly Request[],
): readonly Found[] {
  const agentNames = [...new Set([...stock, ...petrichor].map(({ agentName }) => agentName))];
  return agentNames.flatMap((agentName) => {
    const [theirs, ours] = [stock, petrichor].map((all) =>
      all.filter((one) => one.agentName === agentName),
    );
    return Array.from(
      { length: Math.max(theirs?.length ?? 0, ours?.length ?? 0) },
      (_, n): readonly Found[] => {
        const where = `request ${n + 1} of ${agentName}`;
        const [a, b] = [theirs?.[n], ours?.[n]];
        return a === undefined || b === undefined
          ? [{ field: 'request', where, stock: a, petrichor: b }]
          : compareRequest(where, a, b);
      },
    ).flat();
  });
}

function compareRequest(where: string, stock: Request, petrichor: Request): readonly Found[] {
  return [
    ...compareField(
      'request.systemInstruction',
      where,
      stock.systemInstruction,
      petrichor.systemInstruction,
    ),
    ...compareField('request.contents', where, stock.contents, petrichor.contents),
    ...compareMembers('request.tools', where, stock.tools, petrichor.tools),
    ...compareMembers('request.config', where, stock.config, petrichor.config),
  ];
}

function compareMembers(field: string, where: string, a: object, b: object): readonly Found[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    compareField(`${field}.${key}`, where, Reflect.get(a, key), Reflect.get(b, key)),
  );
}

type EventFields = Readonly<Record<string, unknown>>;

/** Compares the events that have the same author and content, and lists those that only one package has. */
function compareEvents(
  turn: string,
  stock: readonly EventFields[],
  petrichor: readonly EventFields[],
): readonly Found[] {
  const pairs = alignEvents(stock, petrichor);
  return pairs.flatMap(([a, b], n): readonly Found[] => {
    const where = `${turn}, event ${n + 1}`;
    if (a === undefined || b === undefined)
      return [
        { field: a === undefined ? 'event.added' : 'event.missing', where, stock: a, petrichor: b },
      ];
    const { actions: theirs = {}, ...restOfStock } = a;
    const { actions: ours = {}, ...rest } = b;
    return [
      ...compareMembers('event', where, restOfStock, rest),
      ...compareMembers('event.actions', where, Object(theirs), Object(ours)),
    ];
  });
}

/** Pairs the events of two lists: a longest common subsequence by author and content. */
function alignEvents(
  a: readonly EventFields[],
  b: readonly EventFields[],
): readonly (readonly [EventFields | undefined, EventFields | undefined])[] {
  const [first, ...restOfA] = a;
  const [second, ...restOfB] = b;
  if (first === undefined) return b.map((event) => [undefined, event]);
  if (second === undefined) return a.map((event) => [event, undefined]);
  if (isSameEvent(first, second)) return [[first, second], ...alignEvents(restOfA, restOfB)];
  const withoutA = alignEvents(restOfA, b);
  const withoutB = alignEvents(a, restOfB);
  return countPairs(withoutA) >= countPairs(withoutB)
    ? [[first, undefined], ...withoutA]
    : [[undefined, second], ...withoutB];
}

function countPairs(pairs: readonly (readonly [unknown, unknown])[]): number {
  return pairs.filter(([a, b]) => a !== undefined && b !== undefined).length;
}

function isSameEvent(a: EventFields, b: EventFields): boolean {
  return isDeepStrictEqual(describeEvent(a), describeEvent(b));
}

/** The author of an event, and the kinds of its parts with the names of its calls. */
function describeEvent({ author, content, partial }: EventFields): unknown {
  const parts: unknown = Reflect.get(Object(content), 'parts');
  const kinds = (Array.isArray(parts) ? parts : []).map((part: unknown) => {
    const fields: object = Object(part);
    const [kind] = Object.keys(fields);
    const inner: unknown = kind === undefined ? undefined : Reflect.get(fields, kind);
    return [kind, Reflect.get(Object(inner), 'name')];
  });
  return [author, kinds, partial === true];
}
