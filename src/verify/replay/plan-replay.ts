import { BROKEN_KEY } from '../system/token-classes.ts';
import type { Move } from '../system/move.ts';
import { canonicalRenaming } from '../system/canonicalize.ts';
import type { Path } from '../search/search.ts';
import { SETTLING } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';

const STEP_MS = 1000;

/** A token that the replay tracks. */
export interface TrackedToken {
  /** The number of the record that added it. For a firing, this is its id. */
  readonly seq: number;
  readonly code: number;
  readonly value: { keys: (string | null)[]; after: Record<string, number> };
  readonly arrivedAt: number;
}

/** One move with the data that the executor needs to make it. */
export interface ScriptedStep {
  readonly move: Move;
  /** The time of the step, in milliseconds. */
  readonly at: number;
  /** The tokens that the step adds, in order. */
  readonly added: readonly TrackedToken[];
  /** The firing in flight that the step concerns, and its attempt. */
  readonly firing: { readonly seq: number; readonly attempt: number } | undefined;
  /** For a retry: the time at which the next attempt starts. */
  retryAt: number | undefined;
}

/** Tracks every token of a path, and assigns a time to each step. */
export function planReplay(
  system: TransitionSystem,
  { states, moves, isLivelock = false, cycleFrom = 0 }: Path,
): { readonly initial: readonly TrackedToken[]; readonly scripted: readonly ScriptedStep[] } {
  const { tokenClasses, net } = system;
  const keys = new ReplayKeys(system);
  const track = (codes: readonly number[], seq: number, at: number): readonly TrackedToken[] =>
    codes.map((code) => ({
      seq,
      code,
      value: { keys: keys.toKeys(code), after: {} },
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
    // Each timed step and each input has a different time. Firings of one settling share a time.
    // So do the timers of a livelock, whose delay is 0.
    const isInLap = isLivelock && index > cycleFrom;
    if (!isInLap && (!settles || !settling || timed || move.kind === 'restarted'))
      at = (index + 1) * STEP_MS;
    settling = settles;
    if (isRecorded(move)) seq++;
    const before = tracked;
    const [position] = move.about;
    const subject = position === undefined ? undefined : before[position];
    const attemptState = subject === undefined ? 0 : tokenClasses.get(subject.code).attemptState;
    const name = net.transitions[move.t]?.name ?? '';
    if (timed) {
      for (const position of move.about) {
        const token = before[position];
        if (token !== undefined) token.value.after[name] = at - token.arrivedAt;
      }
    }
    const isAboutFiring = !timed && subject !== undefined;
    const firing = isAboutFiring
      ? { seq: subject.seq, attempt: Math.floor(attemptState / 2) + 1 }
      : undefined;
    keys.register(move.added);
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
    const step: ScriptedStep = { move, at, added, firing, retryAt: undefined };
    if (move.kind === 'retrying' && firing !== undefined) waiting.set(firing.seq, step);
    if (move.kind === 'restarted' && firing !== undefined) {
      const retry = waiting.get(firing.seq);
      if (retry !== undefined) retry.retryAt = at;
    }
    const state = states[index];
    if (state !== undefined) keys.rename(system.applyRaw(state, move));
    tracked = tracked.map((token, position) => ({
      ...token,
      code: states[index + 1]?.tokens[position] ?? token.code,
    }));
    return step;
  });
  if (isLivelock) {
    // The tokens of a lap are taken in the next lap, by timers whose delay is 0.
    const lap = scripted.slice(cycleFrom);
    const names = lap.flatMap(({ move }) => net.transitions[move.t]?.name ?? []);
    for (const { value } of lap.flatMap(({ added }) => added))
      for (const name of names) value.after[name] ??= 0;
  }
  return { initial, scripted };
}

/** Maps the key numbers of the current state to the keys of the replay, by domain. */
class ReplayKeys {
  readonly #system: TransitionSystem;
  #keys: Map<number, string>[];
  #fresh = 0;

  constructor(system: TransitionSystem) {
    this.#system = system;
    this.#keys = Array.from({ length: system.net.keys.domains }, () => new Map());
  }

  /** Creates keys for the numbers that are new. */
  register(codes: readonly number[]): void {
    for (const code of codes) this.toKeys(code);
  }

  /** Returns the keys of a token, by key slot. Null means that the key function throws. */
  toKeys(code: number): (string | null)[] {
    const { place, names } = this.#system.tokenClasses.get(code);
    const domains = this.#system.net.places[place]?.domains ?? [];
    return names.map((name, slot) => {
      if (name === BROKEN_KEY) return null;
      const inDomain = this.#keys[domains[slot] ?? 0];
      const known = inDomain?.get(name);
      if (known !== undefined) return known;
      const fresh = `k${++this.#fresh}`;
      inDomain?.set(name, fresh);
      return fresh;
    });
  }

  /** Applies the renaming from a raw state to its canonical form. */
  rename(raw: Parameters<typeof canonicalRenaming>[0]): void {
    const renaming = canonicalRenaming(raw, this.#system);
    this.#keys = this.#keys.map((inDomain, domain) => {
      const next = new Map<number, string>();
      for (const [from, to] of renaming?.[domain] ?? []) {
        const key = inDomain.get(from);
        if (key !== undefined) next.set(to, key);
      }
      return next;
    });
  }
}

/** True for a move that writes a journal record. */
export function isRecorded({ kind }: Move): boolean {
  return kind !== 'draining' && kind !== 'owned';
}
