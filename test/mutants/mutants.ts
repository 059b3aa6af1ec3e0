/** A defect that is added to the code on purpose. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly {
    readonly file: string;
    /** Occurs exactly once in the file. */
    readonly find: string;
    readonly replace: string;
  }[];
  /** The test files that must each fail on it, the fastest first. */
  readonly tests: readonly string[];
  /** If true, only the long tests plant it: its tests run too long for the short ones. */
  readonly isSlow?: boolean;
}

export const mutants: readonly Mutant[] = [
  {
    name: 'effects in flight are queued again instead of resumed',
    edits: [
      {
        file: 'src/net/engine/firing-attempts.ts',
        find: `        this.#restart(firing, 'crash', now);
        continue;`,
        replace: `        const give = [...firing.inputs].flatMap(([place, tokens]) => tokens.map((token): Deposit => [place, token.value]));
        this.#step.append({ kind: 'ended', t: firing.t, firing: firing.id, outcome: 'cancelled', give }, now);
        continue;`,
      },
    ],
    tests: ['src/net/engine/recovery.test.ts', 'test/crash-points/crash-everywhere.test.ts'],
  },
  {
    name: 'transitions are evaluated once a cycle, not after every firing',
    edits: [
      {
        file: 'src/net/engine/agenda.ts',
        find: `    for (const t of this.#touched) this.#evaluate(t, now);
`,
        replace: `    if (this.#ready.size > 0) return;
    for (const t of this.#touched) this.#evaluate(t, now);
`,
      },
    ],
    tests: ['src/net/engine/firing.test.ts', 'test/nets/speculative-race.test.ts'],
  },
  {
    name: 'resets are journaled and not applied',
    edits: [
      {
        file: 'src/net/journal/apply-record.ts',
        find: `      for (const move of record.take ?? none) remove(marking, move, change);
      for (const move of record.reset ?? none) remove(marking, move, change);
      for (const firing`,
        replace: `      for (const move of record.take ?? none) remove(marking, move, change);
      for (const firing`,
      },
    ],
    tests: ['src/net/engine/firing.test.ts', 'test/crash-points/crash-everywhere.test.ts'],
  },
  {
    name: 'a step is published before it is committed',
    edits: [
      {
        file: 'src/net/engine/driver.ts',
        find: `    const outcome = await this.#options.commit(step);`,
        replace: `    this.#options.onCommitted(step);
    const outcome = await this.#options.commit(step);`,
      },
    ],
    tests: ['src/net/engine/driver.test.ts'],
  },
  {
    name: 'clocks start again at recovery',
    edits: [
      {
        file: 'src/net/engine/executor.ts',
        find: `  recover(now: number): void {`,
        replace: `  recover(now: number): void {
    for (const [place, tokens] of this.marking.tokens) {
      this.marking.tokens.set(place, tokens.map((token) => {
        const [, , more] = toDeposit(this.net, { name: place } as never, token.value, this.#step.at(now));
        return more?.due === undefined ? token : { ...token, due: more.due };
      }));
    }
    this.#agenda.reload();`,
      },
    ],
    tests: ['src/net/engine/recovery.test.ts'],
  },
  {
    name: 'the epoch of a step is not checked',
    edits: [
      {
        file: 'src/store/rules/step-rules.ts',
        find: `    row.epoch !== step.epoch ||
`,
        replace: '',
      },
    ],
    tests: ['src/store/memory/memory-store.test.ts', 'src/store/sqlite/sqlite-store.test.ts'],
  },
  {
    name: 'a firing that waits for its retry is not held in running(t)',
    edits: [
      {
        file: 'src/net/engine/step-recorder.ts',
        find: `        this.#agenda.touch(this.#firings.set(firing));`,
        replace: `        this.#agenda.touch(firing.retryAt === undefined ? this.#firings.set(firing) : this.#firings.delete(firing));`,
      },
    ],
    tests: ['src/net/engine/effect.test.ts'],
  },
  {
    name: 'a timeout ends every firing of its transition instead of one',
    edits: [
      {
        file: 'src/net/engine/firing-attempts.ts',
        find: `    if (delay !== undefined) this.#scheduleRetry(firing, delay, late.message, now);`,
        replace: `    for (const other of [...this.#step.marking.firings.values()]) {
      if (other !== firing && other.t === t.name) this.#step.append({ kind: 'ended', t: t.name, firing: other.id, outcome: 'timeout' }, now);
    }
    if (delay !== undefined) this.#scheduleRetry(firing, delay, late.message, now);`,
      },
    ],
    tests: ['src/net/engine/effect.test.ts', 'test/crash-points/crash-everywhere.test.ts'],
  },
  {
    name: 'an effect that still runs when its runtime closes is journaled as cancelled',
    edits: [
      {
        file: 'src/net/engine/firing-attempts.ts',
        find: `        if (stillRunning.has(firing.id)) {`,
        replace: `        if (stillRunning.has(-1)) {`,
      },
    ],
    tests: ['src/net/engine/driver.test.ts'],
  },
  {
    name: 'the list items that an effect read are not pinned',
    edits: [
      {
        file: 'src/net/engine/binding.ts',
        find: `readItems(list.items, list.length)`,
        replace: `[...list.items]`,
      },
    ],
    tests: ['src/net/engine/list-place.test.ts', 'test/crash-points/crash-everywhere.test.ts'],
  },
  {
    name: 'a new owner does not report that the connections of the former owner closed',
    edits: [
      {
        file: 'src/live/agent/live-agent.ts',
        find: `    ...valuesIn(marking, linkUp).map(({ conn }) => ({`,
        replace: `    ...valuesIn(marking, linkUp).slice(Infinity).map(({ conn }) => ({`,
      },
    ],
    tests: ['test/live/live-crashes.test.ts'],
    isSlow: true,
  },
  {
    name: 'words that arrive during the reply of a live model begin an utterance',
    edits: [
      {
        file: 'src/live/models/gemini/gemini-speech-edges.ts',
        find: `if (this.#reporter.reply === undefined) this.#derive('started');`,
        replace: `this.#derive('started');`,
      },
    ],
    tests: ['src/live/models/gemini/gemini-speech-edges.test.ts'],
  },
  {
    name: 'a live connection is resumed with the handle of another agent',
    edits: [
      {
        file: 'src/live/link/link-net.ts',
        find: `handles.find((one) => one.agent === agent)`,
        replace: `handles.at(0)`,
      },
    ],
    tests: ['test/adk/run-live.test.ts'],
    isSlow: true,
  },
  {
    name: 'models are shown the recordings of a live session',
    edits: [
      {
        file: 'src/adk/runner/live-run.ts',
        find: `const appended = { event, stateDelta: {}, isHidden: true };`,
        replace: `const appended = { event, stateDelta: {} };`,
      },
    ],
    tests: ['test/adk/live-turns.test.ts'],
    isSlow: true,
  },
  {
    name: 'in a live session the next agent of a sequence does not wait for the one before it',
    edits: [
      {
        file: 'src/agents/kinds/sequential.ts',
        find: `if (isConversation && done.escalate !== true) return { stay: done };`,
        replace: ``,
      },
    ],
    tests: ['test/adk/live-turns.test.ts'],
    isSlow: true,
  },
];
