/** Every program of a peer runs a turn. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { withTemporaryFolder } from '../with-temporary-folder.ts';
import { columnNames, mergeRounds } from './columns.ts';
import { loadPeer, peerNames } from './peers.ts';
import { installPetrichor } from './petrichor-package.ts';
import { formatReport } from './report.ts';
import { runMeasurement } from './run-measurement.ts';
import { CHAPTER, PATHS, QUESTION, twoCalls } from './script.ts';

describe('the bench of peers', () => {
  before(installPetrichor);

  for (const name of peerNames)
    it(`runs two turns of a session with ${name}: in memory, and in SQLite if it stores sessions`, async () => {
      const peer = await loadPeer(name);
      await withTemporaryFolder(async (folder) => {
        const files = [
          undefined,
          ...(peer.durable === undefined ? [] : [join(folder, 'store.db')]),
        ];
        for (const file of files) {
          const read: string[] = [];
          const agent = await peer.open({
            script: twoCalls,
            readFile: (path) => {
              read.push(path);
              return CHAPTER;
            },
            file,
          });
          const answer = 'text' in twoCalls.afterResults ? twoCalls.afterResults.text.join('') : '';
          assert.equal(await agent.ask('session', QUESTION), answer);
          const pieces: string[] = [];
          await agent.ask('session', QUESTION, { onText: (piece) => pieces.push(piece) });
          assert.equal(pieces.join(''), answer);
          assert.deepEqual(read.toSorted(), [...PATHS, ...PATHS].toSorted());
          const stored = await agent.stored('session');
          assert.ok(stored.includes(QUESTION) && stored.includes(CHAPTER.slice(0, 50)));
          await agent.close();
        }
      });
    });

  it('measures every column of a peer that stores its sessions', async () => {
    for (const column of columnNames) {
      const measured = await runMeasurement('petrichor', column, { quick: true });
      assert.ok(measured !== null, column);
    }
  });

  it('takes the median of the rounds, and says in which columns Petrichor is not first', () => {
    const own = mergeRounds([
      { turnsPerSecond: 100, cpuMs: 2 },
      { turnsPerSecond: 300, cpuMs: 2 },
      null,
      { turnsPerSecond: 200, cpuMs: 2 },
    ]);
    const report = formatReport([
      { name: 'petrichor', version: '1', durable: undefined, figures: { fresh: own } },
      {
        name: 'other',
        version: '1',
        durable: undefined,
        figures: { fresh: { turnsPerSecond: 100, cpuMs: 1 } },
      },
    ]);
    assert.match(report, /\| `petrichor` \| 200 \| 2 ms \|/);
    assert.match(report, /\| `other` \| 100 \(× 0.5\) \| 1 ms \(× 0.5\) \|/);
    assert.match(
      report,
      /not first in:\n\n- Speed in memory, CPU of a turn: `other` 1 ms against 2 ms$/,
    );
  });
});
