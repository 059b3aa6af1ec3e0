import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile, outlet, place, pure } from 'petrichor/net';
import { append, allOf } from 'petrichor/net';
import { z } from 'zod';
import {
  conversation,
  generation,
  staleOut,
  staleResults,
  turnIn,
} from '../../examples/cases/nets/stale-results.ts';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { commitsReadGeneration } from '../../src/agents/index.ts';
import { Random } from '../verify/random.ts';
import { withChanged } from './net-mutations.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = staleResults({ stream: never, tool: never, filler: never });
const names = { generation: 'generation.latest', committed: ['conversation'] };

describe('case 2, stale results', () => {
  it('in any order of turns and results, no result of an earlier turn enters the history of a later one', async () => {
    const random = new Random(11);
    let committed = 0;
    let stale = 0;
    for (let round = 0; round < 40; round++) {
      const open: (() => void)[] = [];
      const waiting =
        <T>(value: T) =>
        async (): Promise<T> => {
          const { promise, resolve } = Promise.withResolvers<T>();
          open.push(() => resolve(value));
          return promise;
        };
      const simulation = new NetSimulation(
        staleResults({ stream: waiting(['a', 'b']), tool: waiting('t'), filler: waiting('f') }),
      );
      const starting: Promise<void>[] = [];
      let turns = 0;
      for (let step = 0; step < 20; step++) {
        if (random.chance(0.2)) {
          turns++;
          // Sometimes at the same moment as the next action.
          const put = simulation.put(turnIn, { text: `turn ${turns}`, tools: ['x', 'y'] });
          if (random.chance(0.5)) await put;
          else starting.push(put);
        } else if (open.length > 0) {
          open.splice(random.below(open.length), 1)[0]?.();
          if (random.chance(0.5)) await simulation.settle();
        }
      }
      while (open.length > 0) {
        open.shift()?.();
        await simulation.settle();
      }
      await Promise.all(starting);
      const history = simulation.list(conversation);
      let latest = 0;
      for (const line of history) {
        if (line.by === 'user') latest++;
        assert.equal(line.generation, latest, JSON.stringify(history));
      }
      assert.deepEqual(simulation.tokens(generation), [turns]);
      for (const staleResult of simulation.outputs(staleOut))
        assert.ok(staleResult.generation < turns);
      committed += history.length - turns;
      stale += simulation.outputs(staleOut).length;
    }
    assert.ok(committed > 100 && stale > 100, `${committed} committed, ${stale} stale`);
  });

  it('the invariants reject a net in which a commit site does not read the generation', () => {
    assert.deepEqual(commitsReadGeneration(compile(net), names), []);
    for (const site of ['chunk.commit', 'filler.commit', 'result.commit']) {
      const problems = commitsReadGeneration(
        compile(withChanged(net, site, () => ({ read: {} }))),
        names,
      );
      assert.equal(problems.length, 1);
      assert.match(
        problems.join(),
        new RegExp(`"${site}" commits to "conversation" without reading`),
      );
    }
  });

  it('the invariants also check a commit site that is added later', () => {
    const hint = place('hint.in', z.string(), { environment: true });
    const seen = outlet('hint.seen', z.string());
    const uncheckedCommit = pure('hint.commit', {
      take: { hint },
      give: allOf({ said: append(conversation), seen }),
      run: ({ hint: text }) => ({ said: [{ generation: 0, by: 'hint', text }], seen: text }),
    });
    const withHint = { ...net, transitions: [...net.transitions, uncheckedCommit] };
    assert.match(commitsReadGeneration(compile(withHint), names).join(), /"hint.commit"/);
  });
});
