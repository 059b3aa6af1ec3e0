import { Executor } from '../../net/engine/executor.ts';
import { applyRecord } from '../../net/journal/apply-record.ts';
import { emptyMarking } from '../../net/journal/marking.ts';
import type { Marking } from '../../net/journal/marking.ts';
import { initialToken } from '../../net/language/net.ts';
import type { JournalRecord } from '../../net/journal/record.ts';
import { BROKEN_KEY } from '../system/token-classes.ts';
import type { Move } from '../system/move.ts';
import { canonicalRenaming } from '../system/canonicalize.ts';
import type { Path } from '../search/search.ts';
import { toReturnValue, createSkeleton } from './skeleton.ts';
import type { SkeletonScript } from './skeleton.ts';
import { SETTLING } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { countByPlace } from '../trace/trace.ts';
import { ReplayError } from '../properties/verify-errors.ts';

/** What the executor did when it was led along a path. */
export interface ReplayResult {
  readonly records: readonly JournalRecord[];
  readonly marking: Readonly<Record<string, number>>;
}

const STEP_MS = 1000;
/** No attempt takes too long: a timeout is one of the ends that the path says. */
const NEVER_MS = 1e12;

/**
 * Runs a path of the ordered search on the executor: inputs, results and times are given as the path says, and the
 * executor alone decides what fires. Its records must be the path's steps, and its marking the path's last.
 * @throws ReplayError when they are not
 */
export function replay(system: TransitionSystem, path: Path): ReplayResult {
  return new Replay(system, path).run();
}

/** The tokens of a marking by place, firings in flight by `running(t)`. */
export function countTokens(marking: Marking): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [place, tokens] of marking.tokens) counts[place] = tokens.length;
  for (const { t } of marking.firings.values())
    counts[`running(${t})`] = (counts[`running(${t})`] ?? 0) + 1;
  return counts;
}

/** A token as the replay follows it. */
interface TrackedToken {
  /** The record that made it: a firing is called by it. */
  readonly seq: number;
  readonly code: number;
  readonly value: { keys: (string | null)[]; after: Record<string, number> };
  readonly arrivedAt: number;
}

/** One move, with all the executor must be told. */
interface ScriptedStep {
  readonly move: Move;
  /** When it happens. */
  readonly at: number;
  /** The tokens it makes, in their order. */
  readonly added: readonly TrackedToken[];
  /** The firing it is about, and its attempt. */
  readonly firing: { readonly seq: number; readonly attempt: number } | undefined;
  /** For a retry: when the next attempt starts. */
  retryAt: number | undefined;
}

class Replay {
  readonly #system: TransitionSystem;
  readonly #path: Path;
  readonly #initial: readonly TrackedToken[];
  readonly #scripted: readonly ScriptedStep[];
  /** By record, from the second on: what makes it. */
  readonly #recorded: readonly ScriptedStep[];
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
        const expected = this.#expected('fired', t.name);
        return this.#returnValue(expected);
      },
      start: (t) => {
        this.#expected('started', t.name);
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
      firingKeys: (firingId) => this.#recorded[Number(firingId) - 2]?.added[0]?.value.keys ?? [],
      brokenKeyError: () => this.#error(),
    };
    return new Executor(createSkeleton(this.#system.net.net, script), marking, {
      toFiringId: String,
    });
  }

  #next(): ScriptedStep | undefined {
    return this.#recorded[this.#executor.marking.seq - 1];
  }

  /** The step that should come now, if it is this one; anything else becomes a fault, which is seen in the end. */
  #expected(kind: 'fired' | 'started', t: string): ScriptedStep {
    const next = this.#next();
    const name = next && this.#system.net.transitions[next.move.t]?.name;
    if (next === undefined || next.move.kind !== kind || name !== t) throw this.#error();
    return next;
  }

  #error(): Error {
    return new Error(JSON.stringify(this.#next()?.added[0]?.value.keys ?? []));
  }

  #returnValue({ move, added }: ScriptedStep): unknown {
    const t = this.#system.net.net.transitions[move.t];
    if (t === undefined || move.variant === undefined) throw new RangeError('a step gives nothing');
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

  /** The records as far as the path goes: what the executor did after its end does not matter. */
  #checkedResult(): ReplayResult {
    const records = this.#records.slice(0, this.#recorded.length + 1);
    this.#recorded.forEach(({ move }, index) => {
      const record = records[index + 1];
      const name = this.#system.net.transitions[move.t]?.name;
      const did = record && `${record.kind} ${'t' in record ? record.t : ''}`.trim();
      const expected = `${move.kind} ${move.kind === 'injected' ? '' : (name ?? '')}`.trim();
      if (did !== expected)
        throw new ReplayError(
          index + 1,
          `expected "${expected}", the executor did "${did ?? 'nothing'}"`,
        );
    });
    const marking = emptyMarking();
    for (const record of records) applyRecord(marking, record);
    const counts = countTokens(marking);
    const end = this.#path.states.at(-1);
    const expected = end === undefined ? {} : countByPlace(this.#system, end);
    if (!areEqual(counts, expected))
      throw new ReplayError(
        records.length,
        `the marking is ${JSON.stringify(counts)} instead of ${JSON.stringify(expected)}`,
      );
    return { records, marking: counts };
  }
}

/** Follows every token of a path, and says when each step happens. */
function planReplay(
  system: TransitionSystem,
  { states, moves }: Path,
): { readonly initial: readonly TrackedToken[]; readonly scripted: readonly ScriptedStep[] } {
  const { tokenClasses, net } = system;
  const names = new KeyNames(system);
  const track = (codes: readonly number[], seq: number, at: number): readonly TrackedToken[] =>
    codes.map((code) => ({
      seq,
      code,
      value: { keys: names.toKeys(code), after: {} },
      arrivedAt: at,
    }));
  const initial = track(states[0]?.tokens ?? [], 1, 0);
  let tracked = [...initial];
  let seq = 1;
  let at = 0;
  let settling = false;
  const waiting = new Map<number, ScriptedStep>();
  const scripted = moves.map((move, index): ScriptedStep => {
    const settles = move.kind === 'restarted' || (move.phase & SETTLING) !== 0;
    const timed = net.transitions[move.t]?.timed !== 'no' && move.t >= 0 && settles;
    // What waits for its time has a time of its own; what fires together fires at one time.
    if (!settles || !settling || timed || move.kind === 'restarted') at = (index + 1) * STEP_MS;
    settling = settles;
    if (isRecorded(move)) seq++;
    const before = tracked;
    const [position] = move.about;
    const subject = position === undefined ? undefined : before[position];
    const stage = subject === undefined ? 0 : tokenClasses.get(subject.code).stage;
    const name = net.transitions[move.t]?.name ?? '';
    if (timed) {
      for (const position of move.about) {
        const token = before[position];
        if (token !== undefined) token.value.after[name] = at - token.arrivedAt;
      }
    }
    const isAboutFiring = !timed && subject !== undefined;
    const firing = isAboutFiring
      ? { seq: subject.seq, attempt: Math.floor(stage / 2) + 1 }
      : undefined;
    names.register(move.added);
    const changes = move.kind === 'retrying' || move.kind === 'restarted';
    const added = changes ? [] : track(move.added, seq, at);
    if (changes) {
      const [code] = move.added;
      tracked = before.map((token) =>
        token === subject && subject !== undefined
          ? { ...subject, code: code ?? token.code }
          : token,
      );
    } else {
      const out = new Set(move.removed);
      tracked = [...before.filter((_, position) => !out.has(position)), ...added];
    }
    const one: ScriptedStep = { move, at, added, firing, retryAt: undefined };
    if (move.kind === 'retrying' && firing !== undefined) waiting.set(firing.seq, one);
    if (move.kind === 'restarted' && firing !== undefined) {
      const retry = waiting.get(firing.seq);
      if (retry !== undefined) retry.retryAt = at;
    }
    const state = states[index];
    if (state !== undefined) names.rename(system.applyRaw(state, move));
    tracked = tracked.map((token, position) => ({
      ...token,
      code: states[index + 1]?.tokens[position] ?? token.code,
    }));
    return one;
  });
  return { initial, scripted };
}

/** By domain, what the names of the current state are called in the replay. */
class KeyNames {
  readonly #system: TransitionSystem;
  #called: Map<number, string>[];
  #fresh = 0;

  constructor(system: TransitionSystem) {
    this.#system = system;
    this.#called = Array.from({ length: system.net.keys.domains }, () => new Map());
  }

  /** Calls the names that are new. */
  register(codes: readonly number[]): void {
    for (const code of codes) this.toKeys(code);
  }

  toKeys(code: number): (string | null)[] {
    const { place, names } = this.#system.tokenClasses.get(code);
    const domains = this.#system.net.places[place]?.domains ?? [];
    return names.map((name, slot) => {
      if (name === BROKEN_KEY) return null;
      const called = this.#called[domains[slot] ?? 0];
      const known = called?.get(name);
      if (known !== undefined) return known;
      const fresh = `k${++this.#fresh}`;
      called?.set(name, fresh);
      return fresh;
    });
  }

  /** Follows the renaming from a state as it came to its written form. */
  rename(raw: Parameters<typeof canonicalRenaming>[0]): void {
    const renaming = canonicalRenaming(raw, this.#system);
    this.#called = this.#called.map((called, domain) => {
      const next = new Map<number, string>();
      for (const [from, to] of renaming?.[domain] ?? []) {
        const name = called.get(from);
        if (name !== undefined) next.set(to, name);
      }
      return next;
    });
  }
}

function isRecorded({ kind }: Move): boolean {
  return kind !== 'draining' && kind !== 'owned';
}

function areEqual(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => (a[key] ?? 0) === (b[key] ?? 0));
}
