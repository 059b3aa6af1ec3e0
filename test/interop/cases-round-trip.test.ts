import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromLibpetri, toLibpetri } from 'petrichor/libpetri';
import { compile } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { duplexSession } from '../../examples/cases/nets/duplex-session.ts';
import { fanOut } from '../../examples/cases/nets/fan-out.ts';
import { speculativeRace, withCachedDefault } from '../../examples/cases/nets/speculative-race.ts';
import { staleResults } from '../../examples/cases/nets/stale-results.ts';

/** What a net would call, in a test that runs none. */
const unused = (): never => {
  throw new Error('no net runs here');
};
const race = speculativeRace({ slow: unused, fast: unused });

const cases: Readonly<Record<string, Net>> = {
  'the fan-out': fanOut({ classify: unused, search: unused }),
  'the net of stale results': staleResults({ stream: unused, tool: unused, filler: unused }),
  'the race of two tiers': race,
  'the race of three tiers': withCachedDefault(race, 'later'),
  'the duplex session': duplexSession({ ask: unused, play: unused, runTool: unused }),
};

for (const [name, of] of Object.entries(cases)) {
  test(`${name} comes back from libpetri as it was`, async () => {
    const exported = await toLibpetri(of);
    const back = await fromLibpetri(exported.net, exported);
    assert.equal(compile(back).hash, compile(of).hash);
    assert.deepEqual(back.transitions, of.transitions);
    assert.deepEqual(back.initial, of.initial);
    assert.deepEqual([back.in, back.out], [of.in, of.out]);
  });
}
