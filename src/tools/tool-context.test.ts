import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openToolContext, type ToolRun } from './tool-context.ts';

function runFor(progress: (text: string) => void = () => undefined): ToolRun {
  return {
    callId: 'c1',
    invocationId: 'e-1',
    sessionKey: { appName: 'a', userId: 'u', sessionId: 's' },
    agentName: 'assistant',
    signal: new AbortController().signal,
    firingId: 'f1',
    attempt: 2,
    snapshot: new Map([['n', 1]]),
    progress,
  };
}

test('a tool knows its call, its attempt and its session', () => {
  const run = runFor();
  const { state: _state, act: _act, ...facts } = openToolContext(run).context;
  const { snapshot: _snapshot, ...expected } = run;
  assert.deepEqual(facts, expected);
});

test('what a tool did to state and which actions it took come out together', () => {
  const { context, take } = openToolContext(runFor());
  context.state.increment('n');
  context.act({ escalate: true, transferToAgent: 'a' });
  context.act({ transferToAgent: 'billing' });
  assert.deepEqual(take(), {
    writes: { set: {}, delete: [], increment: { n: 1 }, append: {}, read: [] },
    actions: { escalate: true, transferToAgent: 'billing' },
  });
});

test('what a tool does after it was given up goes nowhere', () => {
  const { context, take } = openToolContext(runFor());
  const taken = take();
  context.state.set('n', 99);
  context.act({ escalate: true });
  assert.deepEqual(taken.writes.set, {});
  assert.deepEqual(taken.actions, {});
});

test('progress is shown as it is told, and a tool can use its context in pieces', () => {
  const told: string[] = [];
  const { progress, state } = openToolContext(runFor((text) => told.push(text))).context;
  progress('half');
  const { get, set } = state;
  set('n', 2);
  assert.deepEqual([told, get('n')], [['half'], 2]);
  assert.equal('takeWrites' in state, false);
});
