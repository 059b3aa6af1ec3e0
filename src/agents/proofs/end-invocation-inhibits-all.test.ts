import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, effect, net, place, pure } from '../../net/index.ts';
import type { AnyPlace, Effect } from '../../net/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { endInvocationInhibitsAll } from './end-invocation-inhibits-all.ts';

const ended = place('invocation.end', { environment: true });
const other = place('paused', { environment: true });
const asked = place('asked', { environment: true });

const calling = (name: string, unless: readonly AnyPlace[]): Effect =>
  effect(name, {
    take: { asked },
    unless,
    give: allOf({}),
    failed: () => ({}),
    run: async () => ({}),
  });
const note = pure('note', { take: { asked }, give: allOf({}), run: () => ({}) });
const close = pure('close', { take: { ended, other }, give: allOf({}), run: () => ({}) });

const findProblems = (...effects: readonly Effect[]): readonly string[] =>
  endInvocationInhibitsAll(compile(net('own', { transitions: [...effects, note, close] })), {
    endInvocation: 'invocation.end',
  });

test('effects that the signal inhibits pass, and pure transitions need no arc', () => {
  assert.deepEqual(
    findProblems(calling('model.call', [ended]), calling('tool.run', [other, ended])),
    [],
  );
});

test('each effect that the signal does not inhibit is reported by name', () => {
  const problems = findProblems(
    calling('model.call', [ended]),
    calling('tool.run', []),
    calling('mail.send', [other]),
  );
  assert.equal(problems.length, 2);
  assert.match(problems.join(), /"tool.run".*"mail.send"/s);
});

test('a signal that the net does not have is an error', () => {
  const of = compile(net('own', { transitions: [note] }));
  assert.throws(
    () => endInvocationInhibitsAll(of, { endInvocation: 'invocation.ended' }),
    InvalidInputError,
  );
});
