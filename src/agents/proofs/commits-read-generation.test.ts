import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import {
  allOf,
  append,
  compile,
  effect,
  initialToken,
  listPlace,
  net,
  oneOf,
  outlet,
  place,
  pure,
  truncate,
} from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { commitsReadGeneration } from './commits-read-generation.ts';

const turn = place('turn.in', { environment: true });
const generation = place('generation.latest', v.number());
const chunk = place('model.chunk', v.string(), { environment: true });
const result = place('tool.result', v.string(), { environment: true });
const filler = place('filler.ready', v.string(), { environment: true });
const conversation = listPlace('conversation', v.string());
const stale = outlet('result.stale', v.string());
const out = outlet('event.out', v.string());

const bump = pure('generation.bump', {
  take: { turn, generation },
  give: allOf({ generation, said: append(conversation) }),
  run: ({ generation }) => ({ generation: generation + 1, said: [] }),
});
const commit = (name: string, from: TokenPlace<string>): Transition =>
  pure(name, {
    take: { from },
    read: { generation },
    give: oneOf({ committed: append(conversation), stale }),
    run: ({ from }) => ({ stale: from }),
  });
const sites = [
  commit('chunk.commit', chunk),
  commit('result.commit', result),
  commit('filler.commit', filler),
] as const;

const findProblems = (...transitions: readonly Transition[]): readonly string[] =>
  commitsReadGeneration(
    compile(net('own', { transitions, initial: [initialToken(generation, 0)] })),
    {
      generation: 'generation.latest',
      committed: ['conversation'],
    },
  );

test('commit sites that all read the generation pass, and so does the transition that increments it', () => {
  assert.deepEqual(findProblems(bump, ...sites), []);
});

test('a commit site that does not read the generation is reported by name', () => {
  for (const [index, site] of sites.entries()) {
    const forgetful = { ...site, read: {} };
    const problems = findProblems(bump, ...sites.with(index, forgetful));
    assert.equal(problems.length, 1);
    assert.match(
      problems.join(),
      new RegExp(`"${site.name}" commits to "conversation" without reading`),
    );
  }
});

test('a transition that reads the generation and always commits is reported', () => {
  const always = pure('chunk.commit', {
    take: { chunk },
    read: { generation },
    give: oneOf({
      both: allOf({ first: append(conversation), stale }),
      forced: allOf({ said: out }),
    }),
    run: () => ({ forced: { said: '' } }),
  });
  assert.deepEqual(findProblems(bump, always), [], 'a list may be left as it is');
  const of = compile(
    net('own', { transitions: [bump, always], initial: [initialToken(generation, 0)] }),
  );
  const names = { generation: 'generation.latest', committed: ['event.out'] };
  assert.deepEqual(commitsReadGeneration(of, names), []);
  const forced = { ...always, give: allOf({ said: out }) };
  const worse = compile(
    net('own', { transitions: [bump, forced], initial: [initialToken(generation, 0)] }),
  );
  assert.match(commitsReadGeneration(worse, names).join(), /always commits to "event.out"/);
});

test('an effect that commits is reported, because it reads the generation at its start', () => {
  const slow = effect('chunk.fetch', {
    take: { chunk },
    read: { generation },
    give: allOf({ said: append(conversation) }),
    failed: () => ({}),
    run: async () => ({}),
  });
  assert.match(findProblems(bump, slow).join(), /effect "chunk.fetch" commits to "conversation"/);
});

test('truncating a list is not a commit', () => {
  const rewind = pure('rewind', {
    take: { chunk },
    give: allOf({ said: truncate(conversation) }),
    run: () => ({ said: { length: 0 } }),
  });
  assert.deepEqual(findProblems(bump, rewind), []);
});

test('a place that the net does not have is an error', () => {
  const of = compile(net('own', { transitions: [bump], initial: [initialToken(generation, 0)] }));
  const generationName = 'generation.latest';
  assert.throws(
    () => commitsReadGeneration(of, { generation: 'generation', committed: ['conversation'] }),
    InvalidInputError,
  );
  assert.throws(
    () => commitsReadGeneration(of, { generation: generationName, committed: ['conversatoin'] }),
    InvalidInputError,
  );
});
