import { test } from 'node:test';
import { pickSample } from '../sample-seed.ts';
import { checkKillAtRequest, REQUESTS } from './kill-at-request.ts';

// Google's libraries read it.
process.env['GOOGLE_CLOUD_PROJECT'] = 'p1';

/** The request that appends the first event, and another one in each run. */
const requests = new Set([5, 1 + pickSample(REQUESTS, 'vertex-ai kills')]);

for (const nth of requests)
  test(`an event is in Agent Engine once when a process is killed at request ${nth} of a run`, async () =>
    checkKillAtRequest(nth));
