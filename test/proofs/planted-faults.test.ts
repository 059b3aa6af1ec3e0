import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CommandFolder } from '../cli/command-folder.ts';

interface PlantedFault {
  /** The name of the property that is refuted. */
  readonly refuted: RegExp;
  /** The steps of the trace, in this order, with any steps between them. */
  readonly steps: readonly string[];
  /** True if the trace ends in a loop. */
  readonly isLoop?: boolean;
}

const planted: Readonly<Record<string, PlantedFault>> = {
  'two-locks': { refuted: /^deadlock-free$/, steps: ['a.lock', 'b.lock'] },
  'double-commit': {
    refuted: /at most once$/,
    steps: ['split', 'primary.commit', 'fallback.commit'],
  },
  'unbounded-place': {
    refuted: /^at most 10 in each place$/,
    steps: Array.from({ length: 11 }, () => 'feed.poll'),
  },
  'stale-commit': {
    refuted: /^no stale commit$/,
    steps: ['search', 'correct', 'reply.quickly'],
  },
  'bypassed-approval': {
    refuted: /^charge\.send never before its charge\.approve$/,
    steps: ['charge.ask', 'charge.skip', 'charge.send'],
  },
  'join-behind-branch': {
    refuted: /^every join gets all its inputs/,
    steps: ['orders/node.run-read', 'orders/node.route-check', 'orders/workflow.end'],
  },
  'reask-without-budget': {
    refuted: /^re-ask budget: model\.call at most 3 times/,
    steps: ['model.call', 'answer.insist', 'model.call', 'answer.insist', 'model.call'],
  },
  livelock: { refuted: /^every settling ends$/, steps: ['hit', 'return'], isLoop: true },
};

const folder = new CommandFolder();

for (const [name, { refuted, steps, isLoop = false }] of Object.entries(planted)) {
  test(`petrichor prove finds the planted fault: ${name}`, async () => {
    const file = fileURLToPath(new URL(join('planted', `${name}.ts`), import.meta.url));
    const { stdout, signal, exit } = folder.start(['prove', file, '--json'], { input: '' });
    const findFault = (): Record<string, unknown> | undefined =>
      stdout.json.find(
        (line) => line['verdict'] === 'refuted' && refuted.test(String(line['name'])),
      );
    await Promise.race([exit, stdout.shows(() => findFault() !== undefined)]);
    // The other properties may take longer: Ctrl-C keeps what is known.
    signal('SIGINT');
    assert.equal(await exit, 1);
    const found = findFault();
    assert.ok(found, stdout.text);
    const trace = found['trace'] as {
      readonly steps: readonly { readonly kind: string; readonly transition?: string }[];
      readonly circleFrom?: number;
    };
    const begun = trace.steps.flatMap(({ kind, transition }) =>
      kind === 'fired' || kind === 'started' ? (transition ?? []) : [],
    );
    let at = 0;
    for (const step of begun) if (step === steps[at]) at++;
    assert.equal(at, steps.length, begun.join(', '));
    assert.equal(trace.circleFrom !== undefined, isLoop);
  });
}
