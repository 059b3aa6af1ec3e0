import { Executor } from '../net/executor.ts';
import { applyRecord, emptyMarking } from '../net/marking.ts';
import type { Marking } from '../net/marking.ts';
import { initially } from '../net/net.ts';
import type { JournalRecord } from '../net/record.ts';
import { BROKEN } from './alphabet.ts';
import type { Move } from './move.ts';
import { namesIn } from './naming.ts';
import type { Path } from './search.ts';
import { returnedFor, skeletonOf } from './skeleton.ts';
import type { Script } from './skeleton.ts';
import { SETTLING } from './state.ts';
import type { Steps } from './steps.ts';
import { markingOf } from './trace.ts';
import { ReplayError } from './verify-errors.ts';

/** What the executor did when it was led along a path. */
export interface Replayed {
  readonly records: readonly JournalRecord[];
  readonly marking: Readonly<Record<string, number>>;
}

const STEP_MS = 1000;
/** No attempt takes too long: a timeout is one of the ends that the path says. */
const FOR_EVER_MS = 1e12;

/**
 * Runs a path of the ordered search on the executor: inputs, results and times are given as the path says, and the
 * executor alone decides what fires. Its records must be the path's steps, and its marking the path's last.
 * @throws ReplayError when they are not
 */
export function replay(steps: Steps, path: Path): Replayed {
  return new Replay(steps, path).run();
}

/** The tokens of a marking by place, firings in flight by `running(t)`. */
export function countsIn(marking: Marking): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [place, tokens] of marking.tokens) counts[place] = tokens.length;
  for (const { t } of marking.firings.values())
    counts[`running(${t})`] = (counts[`running(${t})`] ?? 0) + 1;
  return counts;
}

/** A token as the replay follows it. */
interface Followed {
  /** The record that made it: a firing is called by it. */
  readonly seq: number;
  readonly code: number;
  readonly value: { keys: (string | null)[]; after: Record<string, number> };
  readonly arrivedAt: number;
}

/** One move, with all the executor must be told. */
interface Scripted {
  readonly move: Move;
  /** When it happens. */
  readonly at: number;
  /** The tokens it makes, in their order. */
  readonly added: readonly Followed[];
  /** The firing it is about, and its attempt. */
  readonly firing: { readonly seq: number; readonly attempt: number } | undefined;
  /** For a retry: when the next attempt starts. */
  retryAt: number | undefined;
}

class Replay {
  readonly #steps: Steps;
  readonly #path: Path;
  readonly #initial: readonly Followed[];
  readonly #scripted: readonly Scripted[];
  /** By record, from the second on: what makes it. */
  readonly #recorded: readonly Scripted[];
  #executor: Executor;
  readonly #records: JournalRecord[] = [];

  constructor(steps: Steps, path: Path) {
    if (steps.ordering !== 'ordered') throw new RangeError('only an ordered path can be replayed');
    this.#steps = steps;
    this.#path = path;
    const plan = planOf(steps, path);
    this.#initial = plan.initial;
    this.#scripted = plan.scripted;
    this.#recorded = plan.scripted.filter(({ move }) => isRecorded(move));
    this.#executor = this.#newExecutor(emptyMarking());
  }

  run(): Replayed {
    this.#executor.begin(0);
    this.#keep();
    let settleAt: number | undefined;
    for (const scripted of this.#scripted) {
      const { move, at } = scripted;
      const settles = move.kind === 'restarted' || (move.phase & SETTLING) !== 0;
      if (settles) {
        if (settleAt !== at) this.#executor.settle(at);
        settleAt = at;
      } else this.#arrive(scripted);
      this.#keep();
    }
    return this.#checked();
  }

  #newExecutor(marking: Marking): Executor {
    const script: Script = {
      initial: this.#initial.map(({ code, value }) => {
        const place = this.#steps.net.places[this.#steps.alphabet.letter(code).place];
        const found = this.#steps.net.net.places.get(place?.name ?? '');
        if (found === undefined) throw new RangeError('an initial token has no place');
        return initially(found, value);
      }),
      fire: (t) => {
        const expected = this.#expected('fired', t.name);
        return this.#returned(expected);
      },
      start: (t) => {
        this.#expected('started', t.name);
        return FOR_EVER_MS;
      },
      fail: () => {
        throw this.#error();
      },
      retry: () => {
        const next = this.#next();
        if (next?.move.kind !== 'retrying') return undefined;
        return (next.retryAt ?? Number.MAX_SAFE_INTEGER) - next.at;
      },
      keysOfFiring: (firingId) => this.#recorded[Number(firingId) - 2]?.added[0]?.value.keys ?? [],
      broken: () => this.#error(),
    };
    return new Executor(skeletonOf(this.#steps.net.net, script), marking, { firingIdOf: String });
  }

  #next(): Scripted | undefined {
    return this.#recorded[this.#executor.marking.seq - 1];
  }

  /** The step that should come now, if it is this one; anything else becomes a fault, which is seen in the end. */
  #expected(kind: 'fired' | 'started', t: string): Scripted {
    const next = this.#next();
    const name = next && this.#steps.net.transitions[next.move.t]?.name;
    if (next === undefined || next.move.kind !== kind || name !== t) throw this.#error();
    return next;
  }

  #error(): Error {
    return new Error(JSON.stringify(this.#next()?.added[0]?.value.keys ?? []));
  }

  #returned({ move, added }: Scripted): unknown {
    const t = this.#steps.net.net.transitions[move.t];
    if (t === undefined || move.variant === undefined) throw new RangeError('a step gives nothing');
    const { counts, alternative } = move.variant;
    let left = added;
    return returnedFor(t, alternative, ({ key, place }) => {
      const tokens = counts[key] ?? 0;
      if (place.kind === 'outlet') return Array.from({ length: tokens }, () => ({ keys: [] }));
      const given = left.slice(0, tokens);
      left = left.slice(tokens);
      return given.map(({ value }) => value);
    });
  }

  #arrive({ move, at, added, firing }: Scripted): void {
    const t = this.#steps.net.transitions[move.t]?.name ?? '';
    switch (move.kind) {
      case 'injected': {
        const [token] = added;
        const place =
          token && this.#steps.net.places[this.#steps.alphabet.letter(token.code).place];
        this.#executor.inject(place?.name ?? '', token?.value, at);
        return;
      }
      case 'ended': {
        const value = this.#returned({ move, at, added, firing, retryAt: undefined });
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
    firing: Scripted['firing'],
    result: Parameters<Executor['finish']>[2],
    at: number,
    t: string,
  ): void {
    this.#executor.finish(firing?.seq ?? 0, firing?.attempt ?? 0, result, at, t);
  }

  #keep(): void {
    this.#records.push(...this.#executor.takeSettled().records);
  }

  /** The records as far as the path goes: what the executor did after its end does not matter. */
  #checked(): Replayed {
    const records = this.#records.slice(0, this.#recorded.length + 1);
    this.#recorded.forEach(({ move }, index) => {
      const record = records[index + 1];
      const name = this.#steps.net.transitions[move.t]?.name;
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
    const counts = countsIn(marking);
    const end = this.#path.states.at(-1);
    const expected = end === undefined ? {} : markingOf(this.#steps, end);
    if (!areEqual(counts, expected))
      throw new ReplayError(
        records.length,
        `the marking is ${JSON.stringify(counts)} instead of ${JSON.stringify(expected)}`,
      );
    return { records, marking: counts };
  }
}

/** Follows every token of a path, and says when each step happens. */
function planOf(
  steps: Steps,
  { states, moves }: Path,
): { readonly initial: readonly Followed[]; readonly scripted: readonly Scripted[] } {
  const { alphabet, net } = steps;
  const names = new NamesInUse(steps);
  const follow = (codes: readonly number[], seq: number, at: number): readonly Followed[] =>
    codes.map((code) => ({
      seq,
      code,
      value: { keys: names.keysOf(code), after: {} },
      arrivedAt: at,
    }));
  const initial = follow(states[0]?.tokens ?? [], 1, 0);
  let word = [...initial];
  let seq = 1;
  let at = 0;
  let settling = false;
  const waiting = new Map<number, Scripted>();
  const scripted = moves.map((move, index): Scripted => {
    const settles = move.kind === 'restarted' || (move.phase & SETTLING) !== 0;
    const timed = net.transitions[move.t]?.timed !== 'no' && move.t >= 0 && settles;
    // What waits for its time has a time of its own; what fires together fires at one time.
    if (!settles || !settling || timed || move.kind === 'restarted') at = (index + 1) * STEP_MS;
    settling = settles;
    if (isRecorded(move)) seq++;
    const before = word;
    const [about] = move.about;
    const subject = about === undefined ? undefined : before[about];
    const stage = subject === undefined ? 0 : alphabet.letter(subject.code).stage;
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
    names.meet(move.added);
    const changes = move.kind === 'retrying' || move.kind === 'restarted';
    const added = changes ? [] : follow(move.added, seq, at);
    if (changes) {
      const [code] = move.added;
      word = before.map((token) =>
        token === subject && subject !== undefined
          ? { ...subject, code: code ?? token.code }
          : token,
      );
    } else {
      const out = new Set(move.removed);
      word = [...before.filter((_, position) => !out.has(position)), ...added];
    }
    const one: Scripted = { move, at, added, firing, retryAt: undefined };
    if (move.kind === 'retrying' && firing !== undefined) waiting.set(firing.seq, one);
    if (move.kind === 'restarted' && firing !== undefined) {
      const retry = waiting.get(firing.seq);
      if (retry !== undefined) retry.retryAt = at;
    }
    const state = states[index];
    if (state !== undefined) names.rename(steps.rawAfter(state, move));
    word = word.map((token, position) => ({
      ...token,
      code: states[index + 1]?.tokens[position] ?? token.code,
    }));
    return one;
  });
  return { initial, scripted };
}

/** By domain, what the names of the current state are called in the replay. */
class NamesInUse {
  readonly #steps: Steps;
  #called: Map<number, string>[];
  #fresh = 0;

  constructor(steps: Steps) {
    this.#steps = steps;
    this.#called = Array.from({ length: steps.net.keys.domains }, () => new Map());
  }

  /** Calls the names that are new. */
  meet(codes: readonly number[]): void {
    for (const code of codes) this.keysOf(code);
  }

  keysOf(code: number): (string | null)[] {
    const { place, names } = this.#steps.alphabet.letter(code);
    const domains = this.#steps.net.places[place]?.domains ?? [];
    return names.map((name, slot) => {
      if (name === BROKEN) return null;
      const called = this.#called[domains[slot] ?? 0];
      const known = called?.get(name);
      if (known !== undefined) return known;
      const fresh = `k${++this.#fresh}`;
      called?.set(name, fresh);
      return fresh;
    });
  }

  /** Follows the renaming from a state as it came to its written form. */
  rename(raw: Parameters<typeof namesIn>[0]): void {
    const renaming = namesIn(raw, this.#steps);
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
