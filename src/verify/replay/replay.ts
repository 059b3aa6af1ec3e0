import { readOwn } from '../../core/internal.ts';
import { runningPlaceName } from '../../net/internal.ts';
import {
  Executor,
  type SettleLimitError,
  applyRecord,
  emptyMarking,
  type Marking,
  initialToken,
  type JournalRecord,
} from '../../net/index.ts';
import type { Path } from '../search/search.ts';
import { isRecorded, planReplay } from './plan-replay.ts';
import type { ScriptedStep, TrackedToken } from './plan-replay.ts';
import { toReturnValue, createSkeleton } from './skeleton.ts';
import type { SkeletonScript } from './skeleton.ts';
import type { MoveKind } from '../system/move.ts';
import { SETTLING } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { countByPlace, countNames } from '../trace/trace.ts';
import { ReplayError } from '../properties/verify-errors.ts';

/** The records and the marking of the executor after a replay. */
export interface ReplayResult {
  readonly records: readonly JournalRecord[];
  readonly marking: Readonly<Record<string, number>>;
}

/** The timeout of every attempt. It never expires: in a path, a timeout is one of the results of an effect. */
const NEVER_MS = 1e12;

/**
 * Runs a path of the ordered search on the executor. Inputs, results and times follow the path; the executor alone
 * decides what fires.
 * @throws ReplayError if the records differ from the steps of the path, or if the final markings differ.
 * @throws RangeError if the path is not of an ordered search.
 */
export function replay(system: TransitionSystem, path: Path): ReplayResult {
  return new Replay(system, path).run();
}

/** Returns the numbers of tokens by place, and of firings in flight by `running(t)`. */
export function countTokens(marking: Marking): Readonly<Record<string, number>> {
  return countNames([
    ...[...marking.tokens].flatMap(([place, tokens]) => tokens.map(() => place)),
    ...[...marking.firings.values()].map(({ t }) => runningPlaceName(t)),
  ]);
}

class Replay {
  readonly #system: TransitionSystem;
  readonly #path: Path;
  readonly #initial: readonly TrackedToken[];
  readonly #scripted: readonly ScriptedStep[];
  /** The steps that write a record, from the second record on. */
  readonly #recorded: readonly ScriptedStep[];
  /** For a livelock: the recorded steps that repeat, from the first to the one after the last. */
  readonly #lap: { readonly from: number; readonly to: number } | undefined;
  #executor: Executor;
  readonly #records: JournalRecord[] = [];

  constructor(system: TransitionSystem, path: Path) {
    if (system.ordering !== 'ordered') throw new RangeError('only an ordered path can be replayed');
    this.#system = system;
    this.#path = path;
    const plan = planReplay(system, path);
    this.#initial = plan.initial;
    this.#scripted = plan.scripted;
    this.#recorded = plan.scripted.filter(({ move }) => isRecorded(move));
    this.#lap = findLap(path);
    this.#executor = this.#newExecutor(emptyMarking());
  }

  run(): ReplayResult {
    this.#executor.begin(0);
    this.#collectRecords();
    let settleAt: number | undefined;
    for (const scripted of this.#scripted) {
      const { move, at } = scripted;
      const settles = move.kind === 'restarted' || (move.phase & SETTLING) !== 0;
      if (settles) {
        if (settleAt !== at) this.#executor.settle(at);
        settleAt = at;
      } else this.#deliver(scripted);
      this.#collectRecords();
    }
    return this.#checkedResult();
  }

  #newExecutor(marking: Marking): Executor {
    const script: SkeletonScript = {
      initial: this.#initial.map(({ code, value }) => {
        const place = this.#system.net.places[this.#system.tokenClasses.get(code).place];
        const found = this.#system.net.net.places.get(place?.name ?? '');
        if (found === undefined) throw new RangeError('an initial token has no place');
        return initialToken(found, value);
      }),
      fire: (t) => {
        const expected = this.#expected(t.name, 'fired');
        return this.#returnValue(expected);
      },
      start: (t) => {
        this.#expected(t.name, 'started', 'restarted');
        return NEVER_MS;
      },
      fail: () => {
        throw this.#error();
      },
      retry: () => {
        const next = this.#next();
        if (next?.move.kind !== 'retrying') return undefined;
        return (next.retryAt ?? Number.MAX_SAFE_INTEGER) - next.at;
      },
      firingKeys: (firingId) =>
        this.#recorded[this.#toStep(Number(firingId) - 2)]?.added[0]?.value.keys ?? [],
      brokenKeyError: () => this.#error(),
    };
    return new Executor(createSkeleton(this.#system.net.net, script), marking, {
      toFiringId: String,
    });
  }

  #next(): ScriptedStep | undefined {
    return this.#recorded[this.#toStep(this.#executor.marking.seq - 1)];
  }

  /** Returns the recorded step that a record after the first one follows. The steps of a livelock repeat. */
  #toStep(index: number): number {
    if (this.#lap === undefined || index < this.#lap.to) return index;
    const { from, to } = this.#lap;
    return from + ((index - from) % (to - from));
  }

  /** Returns the next step of the path if it matches. Otherwise it throws, and the fault makes the final check fail. */
  #expected(t: string, ...kinds: readonly MoveKind[]): ScriptedStep {
    const next = this.#next();
    const name = next && this.#system.net.transitions[next.move.t]?.name;
    if (next === undefined || !kinds.includes(next.move.kind) || name !== t) throw this.#error();
    return next;
  }

  #error(): Error {
    return new Error(JSON.stringify(this.#next()?.added[0]?.value.keys ?? []));
  }

  #returnValue({ move, added }: ScriptedStep): unknown {
    const t = this.#system.net.net.transitions[move.t];
    if (t === undefined || move.variant === undefined)
      throw new RangeError('a fired or ended step has no outputs');
    const { counts, alternative } = move.variant;
    let left = added;
    return toReturnValue(t, alternative, ({ key, place }) => {
      const tokens = counts[key] ?? 0;
      if (place.kind === 'outlet') return Array.from({ length: tokens }, () => ({ keys: [] }));
      const own = left.slice(0, tokens);
      left = left.slice(tokens);
      return own.map(({ value }) => value);
    });
  }

  #deliver({ move, at, added, firing }: ScriptedStep): void {
    const t = this.#system.net.transitions[move.t]?.name ?? '';
    switch (move.kind) {
      case 'injected': {
        const [token] = added;
        const place =
          token && this.#system.net.places[this.#system.tokenClasses.get(token.code).place];
        this.#executor.inject(place?.name ?? '', token?.value, at);
        return;
      }
      case 'ended': {
        const value = this.#returnValue({ move, at, added, firing, retryAt: undefined });
        this.#finish(firing, { ok: true, value }, at, t);
        return;
      }
      case 'retrying':
      case 'faulted':
        this.#finish(firing, { ok: false, kind: 'error', error: this.#error() }, at, t);
        return;
      case 'draining':
        this.#executor.drain();
        return;
      case 'owned':
        this.#executor = this.#newExecutor(this.#executor.marking);
        return;
      case 'fired':
      case 'started':
      case 'restarted':
        throw new RangeError(`a ${move.kind} step does not come from outside`);
      default:
        move.kind satisfies never;
    }
  }

  #finish(
    firing: ScriptedStep['firing'],
    result: Parameters<Executor['finish']>[2],
    at: number,
    t: string,
  ): void {
    this.#executor.finish(firing?.seq ?? 0, firing?.attempt ?? 0, result, at, t);
  }

  #collectRecords(): void {
    this.#records.push(...this.#executor.takeSettled().records);
  }

  /** Checks the records up to the end of the path. Records that the executor wrote after it are ignored. */
  #checkedResult(): ReplayResult {
    const limit = this.#lap === undefined ? undefined : this.#checkLimit(this.#lap);
    const count = limit?.records ?? this.#recorded.length + 1;
    const records = this.#records.slice(0, count);
    for (let index = 0; index < (limit?.firings ?? this.#recorded.length); index++)
      this.#checkRecord(index);
    const marking = emptyMarking();
    for (const record of records) applyRecord(marking, record);
    const counts = countTokens(marking);
    const end = this.#path.states.at(-1);
    const expected =
      end === undefined || limit?.isEndOfPath === false ? counts : countByPlace(this.#system, end);
    if (!areEqual(counts, expected))
      throw new ReplayError(
        records.length,
        `expected the marking ${JSON.stringify(expected)}, but it is ${JSON.stringify(counts)}`,
      );
    return { records, marking: counts };
  }

  /** Checks that the executor repeated the lap until it refused a firing. */
  #checkLimit({ from, to }: { readonly from: number; readonly to: number }): {
    readonly records: number;
    readonly firings: number;
    readonly isEndOfPath: boolean;
  } {
    const at = this.#records.findIndex(
      (record) => record.kind === 'faulted' && record.error.code === SETTLE_LIMIT,
    );
    if (at < 0) throw new ReplayError(to, 'expected the steps to repeat, but the settling ended');
    const tail = this.#recorded.slice(to);
    if (tail.length > 0 && (at - 1 - from) % (to - from) !== tail.length - 1)
      throw new ReplayError(at, 'the executor refused another firing than the path');
    return { records: at + 1, firings: at - 1, isEndOfPath: tail.length > 0 };
  }

  #checkRecord(index: number): void {
    const record = this.#records[index + 1];
    const move = this.#recorded[this.#toStep(index)]?.move;
    const name = this.#system.net.transitions[move?.t ?? -1]?.name;
    const actual = record && `${record.kind} ${'t' in record ? record.t : ''}`.trim();
    const expected = `${move?.kind ?? ''} ${move?.kind === 'injected' ? '' : (name ?? '')}`.trim();
    if (actual !== expected)
      throw new ReplayError(
        index + 1,
        `expected "${expected}", but the executor recorded "${actual ?? 'nothing'}"`,
      );
  }
}

/** The code of the fault of a refused firing. */
const SETTLE_LIMIT: SettleLimitError['code'] = 'settle_limit';

/** Returns the recorded steps of a path that repeat. */
function findLap({
  moves,
  isLivelock,
  cycleFrom,
  cycleTo = moves.length,
}: Path): { readonly from: number; readonly to: number } | undefined {
  if (isLivelock !== true || cycleFrom === undefined) return undefined;
  const count = (until: number): number => moves.slice(0, until).filter(isRecorded).length;
  return { from: count(cycleFrom), to: count(cycleTo) };
}

function areEqual(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => (readOwn(a, key) ?? 0) === (readOwn(b, key) ?? 0));
}
