import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeMetrics } from './merge-metrics.ts';

const text = (turns: number): string =>
  [
    '# HELP petrichor_sessions Sessions in the store, by status.',
    '# TYPE petrichor_sessions gauge',
    'petrichor_sessions{status="idle"} 3',
    '# HELP petrichor_turns_total Turns that ended, by the reason.',
    '# TYPE petrichor_turns_total counter',
    `petrichor_turns_total{reason="a \\"b\\" } c"} ${turns}`,
    '# HELP petrichor_commits_total Settled steps that were committed.',
    '# TYPE petrichor_commits_total counter',
    `petrichor_commits_total ${turns}`,
    '',
  ].join('\n');

test('each sample names its worker, each metric is described once, and the store is counted once', () => {
  assert.deepEqual(
    mergeMetrics([
      { worker: 2, text: text(5) },
      { worker: 1, text: text(7) },
    ]).split('\n'),
    [
      '# HELP petrichor_sessions Sessions in the store, by status.',
      '# TYPE petrichor_sessions gauge',
      'petrichor_sessions{status="idle"} 3',
      '# HELP petrichor_turns_total Turns that ended, by the reason.',
      '# TYPE petrichor_turns_total counter',
      'petrichor_turns_total{reason="a \\"b\\" } c",worker="2"} 5',
      'petrichor_turns_total{reason="a \\"b\\" } c",worker="1"} 7',
      '# HELP petrichor_commits_total Settled steps that were committed.',
      '# TYPE petrichor_commits_total counter',
      'petrichor_commits_total{worker="2"} 5',
      'petrichor_commits_total{worker="1"} 7',
      '',
    ],
  );
});
