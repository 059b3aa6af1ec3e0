import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { emptyMarking } from '../journal/marking.ts';
import { Executor } from '../engine/executor.ts';
import { allOf, oneOf } from '../language/arcs.ts';
import type { LabelRule } from '../language/label-rule.ts';
import { NetBuildError } from '../language/net-errors.ts';
import { net } from '../language/net.ts';
import { place } from '../language/place.ts';
import { effect, pure } from '../language/transition.ts';
import { compile } from './compile.ts';

const label = ({ tool }: { readonly tool: string }): string => tool;
const call = v.object({ tool: v.string() });
const asked = place('asked', call, { environment: true, label });
const runs = place('runs', call, { label });
const waits = place('waits', call, { label });
const bare = place('bare', call);

function route(labels: readonly LabelRule[], toTool: (tool: string) => string = (tool) => tool) {
  return pure('route', {
    take: { asked },
    labels,
    give: oneOf({ run: allOf({ runs }), wait: allOf({ waits }) }),
    run: ({ asked: { tool } }) => ({ run: { runs: { tool: toTool(tool) } } }),
  });
}

/** The records after a call of this tool. */
function runNet(transition: ReturnType<typeof route>, tool: string): readonly string[] {
  const compiled = compile(net('calls', { transitions: [transition] }));
  const executor = new Executor(compiled, emptyMarking(), { toFiringId: String });
  executor.begin(0);
  executor.inject('asked', { tool }, 1);
  executor.settle(1);
  return executor
    .takeSettled()
    .records.map((record) =>
      record.kind === 'faulted' ? `faulted: ${record.error.message}` : record.kind,
    );
}

test('an output with a label that its rule does not list is a fault', () => {
  const rules = [{ alternative: 'run', output: 'runs', only: ['look'] }];
  assert.equal(runNet(route(rules), 'look').at(-1), 'fired');
  assert.match(
    runNet(route(rules), 'charge').at(-1) ?? '',
    /^faulted: .*label "charge", but declares look/,
  );
});

test('an output with another label than its input is a fault if the rule copies it', () => {
  const rules = [{ output: 'runs', as: 'asked' }];
  assert.equal(runNet(route(rules), 'charge').at(-1), 'fired');
  const renamed = route(rules, () => 'other');
  assert.match(runNet(renamed, 'charge').at(-1) ?? '', /^faulted: .*label "other", but/);
});

test('a rule with a list and an input declares both', () => {
  const rules = [{ output: 'runs', as: 'asked', only: ['look'] }];
  assert.equal(runNet(route(rules), 'look').at(-1), 'fired');
  assert.match(
    runNet(route(rules), 'charge').at(-1) ?? '',
    /^faulted: .*label "charge", but declares look/,
  );
  const renamed = route(rules, () => 'look');
  assert.match(runNet(renamed, 'charge').at(-1) ?? '', /label "look", but declares charge/);
});

test('a rule of another alternative does not apply', () => {
  const rules = [{ alternative: 'wait', output: 'waits', only: ['look'] }];
  assert.equal(runNet(route(rules), 'charge').at(-1), 'fired');
});

test('a rule about what the transition does not have is a build error', () => {
  const build = (labels: readonly LabelRule[]) => () =>
    compile(net('calls', { transitions: [route(labels)] }));
  assert.throws(build([{ output: 'run', only: ['a'] }]), /labels of the output "run"/);
  assert.throws(build([{ alternative: 'wait', output: 'runs' }]), /labels of the output "runs"/);
  assert.throws(build([{ output: 'runs', as: 'other' }]), /the label of "other"/);
  const unlabeled = pure('drop', {
    take: { asked },
    labels: [{ output: 'bare', only: ['a'] }],
    give: allOf({ bare }),
    run: ({ asked: one }) => ({ bare: one }),
  });
  assert.throws(
    () => compile(net('calls', { transitions: [unlabeled] })),
    (error) => error instanceof NetBuildError && /"bare" has none/.test(error.message),
  );
});

test('an effect copies the label of its first input with one', () => {
  const both = (as: string) =>
    effect('both', {
      take: { runs, waits },
      labels: [{ output: 'asked', as }],
      give: allOf({ asked }),
      failed: (_, { runs: one }) => ({ asked: one }),
      run: async ({ runs: one }) => ({ asked: one }),
    });
  compile(net('calls', { transitions: [route([]), both('runs')] }));
  assert.throws(
    () => compile(net('calls', { transitions: [route([]), both('waits')] })),
    /keeps the label of its first input of one token with a label, "runs"/,
  );
});
