import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ScriptedModel } from '../../models/index.ts';
import {
  allOf,
  compile,
  effect,
  mapPlace,
  net,
  oneOf,
  outlet,
  place,
  pure,
  put,
} from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { agent } from '../llm/define-agent.ts';
import { singleSessionWriter } from './single-session-writer.ts';

const state = mapPlace('state');
const asked = place('asked', { environment: true });
const write = place('state.write', v.string());
const turn = place('turn.current');
const permit = place('turn.permit');
const said = outlet('said', v.string());

const ask = pure('write.ask', {
  take: { asked },
  give: allOf({ write }),
  run: () => ({ write: 'x' }),
});
const persist = pure('state.persist', {
  take: { write },
  give: allOf({ state: put(state) }),
  run: () => ({}),
});
const end = pure('turn.end', {
  take: { turn },
  give: allOf({ permit, state: put(state) }),
  run: () => ({ permit: null }),
});
const begin = pure('turn.begin', {
  take: { permit, asked },
  give: allOf({ turn }),
  run: () => ({ turn: null }),
});

const findProblems = (...transitions: readonly Transition[]): readonly string[] =>
  singleSessionWriter(compile(net('own', { transitions })));

test('one transition applies the pending writes, and transitions that hold the turn can write too', () => {
  assert.deepEqual(findProblems(ask, persist, begin, end), []);
});

test('the nets of our agents have one writer', () => {
  const { compiled } = agent({ name: 'assistant', model: new ScriptedModel([]) });
  assert.deepEqual(singleSessionWriter(compiled), []);
});

test('a transition that stops a turn can drop pending writes', () => {
  const stop = pure('turn.stop', {
    take: { turn, write },
    give: allOf({ permit }),
    run: () => ({ permit: null }),
  });
  assert.deepEqual(findProblems(ask, persist, begin, end, stop), []);
});

test('two transitions that take the pending writes are reported', () => {
  const second = { ...persist, name: 'state.persist-too' };
  assert.match(
    findProblems(ask, persist, second, begin, end).join(),
    /"state.persist" and "state.persist-too" all apply the writes/,
  );
});

test('a second writer is reported, unless it holds the turn', () => {
  const beside = pure('note.keep', {
    take: { asked },
    give: oneOf({ kept: allOf({ state: put(state) }), said }),
    run: () => ({ said: '' }),
  });
  const problems = findProblems(ask, persist, begin, end, beside);
  assert.equal(problems.length, 1);
  assert.match(problems.join(), /"note.keep" writes "state" besides "state.persist"/);
});

test('an effect that writes is reported even when it holds the turn', () => {
  const slow = effect('note.fetch', {
    take: { turn },
    give: allOf({ turn, state: put(state) }),
    failed: () => ({ turn: null }),
    run: async () => ({ turn: null }),
  });
  assert.match(
    findProblems(ask, persist, begin, end, slow).join(),
    /effect "note.fetch" writes "state"/,
  );
});

test('writes that no transition takes are reported', () => {
  assert.match(
    findProblems(ask, begin, end).join(),
    /no transition applies the writes in "state.write"/,
  );
});

test('a place that the net does not have is an error', () => {
  const of = compile(net('own', { transitions: [ask, persist, begin, end] }));
  assert.throws(() => singleSessionWriter(of, { state: 'stat' }), InvalidInputError);
  assert.throws(() => singleSessionWriter(of, { exclusive: ['turn.permitt'] }), InvalidInputError);
});
