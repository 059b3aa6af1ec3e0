import type { Figure } from './figure.ts';
import type { Measured, MeasurementName } from './measurements.ts';
import type { SqliteLayers } from './sqlite-layers.ts';
import { atShare, median } from './statistics.ts';

const KB = 1024;
const MB = 1024 * KB;

const TURN_COMMITS = 5;
/** "About 14": one more for what a first turn begins with. */
const TURN_RECORDS = 15;

type FigureMappers = {
  readonly [Name in MeasurementName]: (measured: Measured[Name]) => readonly Figure[];
};

/** The figures of each measurement, with their limits. */
export const figureMappers: FigureMappers = {
  freshSessions: ({ oneAtATime, fiftyAtOnce }) => [
    speed('fresh sessions in memory, one at a time', 'turns/s', oneAtATime, { atLeast: 3000 }),
    speed('fresh sessions in memory, 50 at once', 'turns/s', fiftyAtOnce),
  ],
  sqliteTurns: ({ diskRate, one, fifty, syncsATurn, fiftyToOne, oneLayers, fiftyLayers }) => [
    speed('raw write + fdatasync (f)', 'a second', diskRate),
    speed('SQLite, one session at a time', 'turns/s', one),
    speed('SQLite, one session at a time', 'f/5', TURN_COMMITS / syncsATurn, {
      atLeast: 0.5,
    }),
    speed('SQLite, 50 sessions in flight', 'turns/s', fifty),
    speed('SQLite, 50 sessions in flight', 'times one session', fiftyToOne),
    // Four times the limit of one session. A limit relative to its rate would punish a faster single session.
    speed('SQLite, 50 sessions in flight', 'f/5', (TURN_COMMITS * fiftyToOne) / syncsATurn, {
      atLeast: 2,
    }),
    ...listLayers('SQLite, one session', oneLayers),
    ...listLayers('SQLite, 50 sessions', fiftyLayers),
  ],
  firstTurns: ({ writtenBytes, retainedBytes }) => [
    fact('written to the log, new session and its first turn', 'KB/turn', writtenBytes / KB, {
      atMost: 20,
    }),
    fact('retained, new session and its first turn', 'KB/turn', retainedBytes / KB, { atMost: 8 }),
  ],
  longSession: ({ turns, early, late, earlyMsInMemory, lateMsInMemory }) => {
    const last = `turns ${turns - 19}-${turns}`;
    return [
      fact('commits of a turn, at most', 'commits', Math.max(early.commits, late.commits), {
        atMost: TURN_COMMITS,
      }),
      fact('records of a turn, at most', 'records', Math.max(early.records, late.records), {
        atMost: TURN_RECORDS,
        limitSource: 'about 14',
      }),
      speed('in memory, turns 1-20', 'ms/turn', earlyMsInMemory),
      speed(`in memory, ${last}`, 'ms/turn', lateMsInMemory),
      // Includes building the model request, which contains the whole conversation. So it has no limit.
      fact('in memory, growth, request included', 'times', lateMsInMemory / earlyMsInMemory),
      speed('SQLite, turns 1-20', 'ms/turn', early.ms),
      speed(`SQLite, ${last}`, 'ms/turn', late.ms),
      fact('SQLite, growth', 'times', late.ms / early.ms, { atMost: 1.2 }),
      fact('written to the log, turns 1-20', 'KB/turn', early.writtenBytes / KB, { atMost: 20 }),
      fact(`written to the log, ${last}`, 'KB/turn', late.writtenBytes / KB, { atMost: 20 }),
      fact('written, growth', 'times', late.writtenBytes / early.writtenBytes, { atMost: 1.2 }),
      fact('retained, turns 1-20', 'KB/turn', early.retainedBytes / KB, { atMost: 8 }),
      fact(`retained, ${last}`, 'KB/turn', late.retainedBytes / KB, { atMost: 8 }),
      fact('retained, growth', 'times', late.retainedBytes / early.retainedBytes, { atMost: 1.2 }),
    ];
  },
  runnerTurns: ({ turns, earlyMs, lateMs, earlyReadMs, lateReadMs }) => [
    speed('Runner with 20 recent events, turns 51-100', 'ms/turn', earlyMs),
    speed(`Runner with 20 recent events, turns ${turns - 49}-${turns}`, 'ms/turn', lateMs),
    fact('Runner, growth', 'times', lateMs / earlyMs, { atMost: 1.5 }),
    fact('its session with 20 recent events, growth', 'times', lateReadMs / earlyReadMs, {
      atMost: 1.5,
    }),
  ],
  net: ({ small, large, costRatio }) => [
    speed('net of 10 transitions', 'firings/s', small.firingsPerSecond),
    speed('net of 1,000 transitions', 'firings/s', large.firingsPerSecond),
    speed('cost of a firing, 1,000 against 10', 'times', costRatio, { atMost: 1.5 }),
    fact('allocated, net of 10 transitions', 'bytes/firing', small.bytesPerFiring),
    fact('allocated, net of 1,000 transitions', 'bytes/firing', large.bytesPerFiring, {
      atMost: 1.5 * small.bytesPerFiring,
      limitSource: '1.5 x net of 10',
    }),
  ],
  idleSessions: ({ sessions, residentBytes, heapBytes }) => [
    fact(`${sessions.toLocaleString('en')} idle sessions, resident`, 'MB', residentBytes / MB, {
      atMost: 20,
    }),
    fact(`${sessions.toLocaleString('en')} idle sessions, heap`, 'MB', heapBytes / MB, {
      atMost: 10,
    }),
  ],
  sessionsInMemory: ({ sessions, residentBytes, heapBytes }) => [
    fact(`${sessions.toLocaleString('en')} sessions in memory, resident`, 'MB', residentBytes / MB),
    fact('heap of a session in memory with one turn', 'KB', heapBytes / sessions / KB),
  ],
  timerScans: (scans) =>
    scans === null
      ? []
      : [
          speed(
            'scan of 1,000,000 sessions on PostgreSQL, 10,000 timers a minute, CPU',
            'ms',
            scans.scanMs,
            {
              atMost: 5,
            },
          ),
          speed('the same with 10,000 timers overdue', 'ms', scans.overdueScanMs, { atMost: 5 }),
          speed('the same, until the answer', 'ms', scans.waitMs),
          fact('statements of a scan on PostgreSQL', '', scans.statements, { atMost: 1 }),
        ],
  idleNodes: (cost) =>
    cost === null
      ? []
      : [
          fact('statements of a turn on PostgreSQL', '', cost.alone.statements),
          // Looks for work at an interval count, too.
          speed(
            'beside 8 idle nodes with 20 readers each',
            'times',
            cost.besideEight.statements / cost.alone.statements,
            {
              atMost: 1.2,
            },
          ),
          speed('CPU of a turn on PostgreSQL', 'ms', cost.alone.cpuMs),
          speed('beside 8 idle nodes with 20 readers each', 'ms', cost.besideEight.cpuMs),
        ],
  takeover: (cost) =>
    cost === null
      ? []
      : [
          speed(
            `${cost.sessions} sessions of a dead node are taken by 3 others`,
            's',
            cost.seconds,
          ),
          fact('claims lost to another node, for each session', '', cost.lostClaims, {
            atMost: 0.5,
          }),
          fact('largest share of a node', '', cost.largestShare, { atMost: 0.45 }),
          speed('statements for each session, with the rest of its turn', '', cost.statements),
          speed('statements in the busiest second', '', cost.peakStatements),
          speed('CPU of the nodes for each session', 'ms', cost.cpuMs),
        ],
  twoNodes: (nodes) =>
    nodes === null
      ? []
      : [
          speed('turns of one server, tools wait 50 ms', 'turns/s', nodes.turnsPerSecond.one),
          speed('of two servers', 'turns/s', nodes.turnsPerSecond.two),
          speed('two servers by one', 'times', nodes.ratio, { atLeast: 1.7 }),
          speed('CPU of a turn on one server', 'ms', nodes.cpuMs.one),
          speed('CPU of a turn on two servers', 'ms', nodes.cpuMs.two),
          speed('CPU of everything for a turn, one server', 'ms', nodes.allCpuMs.one),
          speed('the same, two servers', 'ms', nodes.allCpuMs.two),
          speed('processors in use, one server', '%', nodes.busy.one * 100),
          speed('processors in use, two servers', '%', nodes.busy.two * 100),
        ],
  workers: (costs) =>
    costs.flatMap(({ store, turnsPerSecond, byBusiestCore, cpuMs }) => [
      speed(`serve, ${store}`, 'turns/s', turnsPerSecond.one),
      speed('serve --workers 2', 'turns/s', turnsPerSecond.workers),
      speed('two separate servers', 'turns/s', turnsPerSecond.separate),
      speed(
        'two workers by one process, turns for each CPU second of the busiest process',
        'times',
        byBusiestCore.workers,
        { atLeast: 1.7 },
      ),
      speed('the same of two separate servers', 'times', byBusiestCore.separate),
      speed('CPU of a turn with one process', 'ms', cpuMs.one),
      speed('CPU of a turn with two workers', 'ms', cpuMs.workers),
      speed('CPU of a turn with two separate servers', 'ms', cpuMs.separate),
    ]),
  deltas: ({ deltasPerSecond }) => [
    speed('deltas to the consumer', 'deltas/s', deltasPerSecond, { atLeast: 60_000 }),
  ],
  bridge: ({ formats }) => {
    const least = (of: (format: (typeof formats)[number]) => number): number =>
      Math.min(...formats.map(of));
    const most = (of: (format: (typeof formats)[number]) => number): number =>
      Math.max(...formats.map(of));
    const wires = `of ${formats.length} wires`;
    return [
      speed(
        `deltas from the AI SDK alone, slowest ${wires}`,
        'deltas/s',
        least(({ rawDeltasPerSecond }) => rawDeltasPerSecond),
      ),
      speed(
        'through the bridge, slowest',
        'deltas/s',
        least(({ bridgeDeltasPerSecond }) => bridgeDeltasPerSecond),
      ),
      speed(
        'through the bridge and the runtime, slowest',
        'deltas/s',
        least(({ runtimeDeltasPerSecond }) => runtimeDeltasPerSecond),
      ),
      speed(
        'through the bridge, against the AI SDK alone, median',
        'times',
        median(formats.map(({ bridgeToRaw }) => bridgeToRaw)),
        { atLeast: 0.75 },
      ),
      speed(
        'through both, against the AI SDK alone, median',
        'times',
        median(formats.map(({ runtimeToRaw }) => runtimeToRaw)),
        { atLeast: 0.5 },
      ),
      speed(
        'first delta, added by the bridge, worst',
        'ms',
        most(({ firstDeltaMsOfBridge }) => firstDeltaMsOfBridge),
        { atMost: 1 },
      ),
      speed(
        'first delta, added by bridge and runtime, worst',
        'ms',
        most(({ firstDeltaMsOfRuntime }) => firstDeltaMsOfRuntime),
        { atMost: 5 },
      ),
    ];
  },
  liveFrames: (protocols) =>
    protocols.flatMap((cost) => [
      speed(`${cost.protocol}, a frame of 20 ms to the model`, 'µs', cost.sendMicroseconds, {
        atMost: 1_000,
      }),
      speed(`${cost.protocol}, a frame of 20 ms from it`, 'µs', cost.receiveMicroseconds, {
        atMost: 1_000,
      }),
      fact(`${cost.protocol}, sent`, 'bytes/byte of audio', cost.sentBytesPerByte, { atMost: 1.5 }),
      fact(`${cost.protocol}, received`, 'bytes/byte of audio', cost.receivedBytesPerByte, {
        atMost: 1.75,
      }),
    ]),
  liveHub: (cost) => {
    const frames = cost.frames.toLocaleString('en');
    return [
      speed(`a frame through the hub, ${cost.sessions} live sessions, median`, 'ms', cost.frameMs, {
        atMost: 1,
      }),
      speed('a frame through the hub, 99th of 100', 'ms', cost.frameMsOfHundred, { atMost: 5 }),
      speed('from the edge of speech to the pause, median', 'ms', cost.pauseMs, { atMost: 30 }),
      speed('from the edge of speech to the pause, worst', 'ms', cost.worstPauseMs, {
        atMost: 30,
      }),
      fact(`${frames} frames of the user`, 'records of input', cost.recordsOfInput, { atMost: 0 }),
      fact('a reply, for each second of audio', 'records/s', cost.recordsPerSecond),
      speed(`heap after half of ${frames} frames each way`, 'MB more', cost.grownMb, { atMost: 5 }),
    ];
  },
  liveRecovery: ({ kills, silenceMs, gapMs }) => [
    ...(
      [
        ['median', 0.5],
        ['99th of 100', 0.99],
        ['worst', 1],
      ] as const
    ).map(([which, share]) =>
      speed(
        `silence after a reconnection, ${kills} kills of a speaking server, ${which}`,
        'ms',
        atShare(silenceMs, share),
        { atMost: 2_000 },
      ),
    ),
    speed(
      'silence after a kill, with the start of the next server, median',
      'ms',
      atShare(gapMs, 0.5),
    ),
  ],
  longLiveRun: ({ frames, recordsOfInput, grownMb, spreadMb }) => [
    fact(`runLive, ${frames.toLocaleString('en')} frames`, 'records of input', recordsOfInput, {
      atMost: 0,
    }),
    speed('runLive, resident after the second half of them', 'MB more', grownMb, { atMost: 10 }),
    speed('runLive, resident in the second half, most against least', 'MB', spreadMb),
  ],
  parallelTools: ({ turnMs, toolMs }) => [
    speed(`turn of two tools of ${toolMs} ms`, 'ms', turnMs, {
      atMost: 1.2 * toolMs,
      limitSource: 'about 100',
    }),
  ],
  abort: ({ ms, danglingCalls }) => [
    fact('abort of a turn whose tool ignores it', 'ms', ms, { atMost: 50 }),
    fact('dangling calls in the next prompt', 'calls', danglingCalls, { atMost: 0 }),
  ],
  managed: ({ rounds, hydratedEvents, hydrateMs, interruptMs }) => [
    ...rounds.flatMap(({ sessions, startMs, parkMs, answerMs, perSecond }) => {
      const many = sessions.toLocaleString('en');
      const at = sessions === 1 ? 'one managed session at a time' : `${many} at once`;
      return [
        speed(`${at}, started, median`, 'ms', startMs),
        speed(`${at}, from message to parked call, median`, 'ms', parkMs),
        speed(`${at}, from answer to end, median`, 'ms', answerMs),
        speed(`${at}, started, parked, answered`, 'sessions/s', perSecond),
      ];
    }),
    speed(
      `managed session of ${hydratedEvents.toLocaleString('en')} events, brought back for a turn`,
      'ms',
      hydrateMs,
    ),
    speed('interrupt of a managed turn whose tool ignores it, longest', 'ms', interruptMs, {
      atMost: 50,
    }),
  ],
  server: ({ streams, residentBytes, p99Ms, medianMs, turnsPerSecond }) => [
    fact(
      `${streams.toLocaleString('en')} open streams of a server, resident`,
      'MB',
      residentBytes / MB,
      {
        atMost: 150,
      },
    ),
    speed('event from the log to its reader, median', 'ms', medianMs),
    speed('event from the log to its reader, 99th of 100', 'ms', p99Ms, { atMost: 250 }),
    speed('turns while those streams read', 'turns/s', turnsPerSecond),
  ],
  verify: (made) =>
    made.flatMap(({ net, by, verdict, ms, states, reason }) => {
      const what = `${net}, ${by}: ${reason?.replace(`${by}: `, '') ?? verdict}`;
      // A proof that is not there is no time.
      if (reason?.includes('absent') === true) return [fact(what, 'proofs', 0)];
      return [speed(what, 'ms', ms), ...(states > 0 ? [fact(what, 'states', states)] : [])];
    }),
  proofs: (costs) =>
    costs.flatMap((cost) => [
      speed(`petrichor prove, ${cost.agent}, processor time`, 's', cost.coldSeconds, {
        atMost: cost.limitSeconds,
      }),
      speed(`${cost.agent}, before the first output`, 's', cost.firstOutputSeconds, { atMost: 1 }),
      speed(`${cost.agent}, most memory`, 'MB', cost.maxResidentMb, { atMost: 512 }),
      speed(`${cost.agent}, with stored proofs, above the import`, 's', cost.warmSeconds, {
        atMost: 0.3,
      }),
      fact(`${cost.agent}, proved`, 'proofs', cost.proved ? 1 : 0, { atLeast: 1 }),
    ]),
  plantedFaults: (costs) =>
    costs.flatMap(({ fault, traceSeconds, found }) => [
      speed(`${fault}, processor time until its trace`, 's', traceSeconds, { atMost: 5 }),
      fact(`${fault}, found`, 'faults', found ? 1 : 0, { atLeast: 1 }),
    ]),
  importTime: ({ bareMs, importMs, files }) => [
    speed('import of the root entry, above bare node', 'ms', importMs - bareMs, { atMost: 60 }),
    fact('files that it reads, with those of dependencies', 'files', files.length, { atMost: 10 }),
  ],
  installedPackages: ({ names }) => [
    fact('packages installed with it', 'packages', names.length, { atMost: 8 }),
  ],
};

type Limit = Pick<Figure, 'atLeast' | 'atMost' | 'limitSource'>;

function speed(what: string, unit: string, value: number, limit: Limit = {}): Figure {
  return { what, unit, value, ...limit, required: false };
}

function fact(what: string, unit: string, value: number, limit: Limit = {}): Figure {
  return { what, unit, value, ...limit, required: true };
}

function listLayers(what: string, { commit, statements, rest }: SqliteLayers): readonly Figure[] {
  return [
    speed(`${what}, time in COMMIT`, '%', commit * 100),
    speed(`${what}, time in other statements`, '%', statements * 100),
    speed(`${what}, time in the runtime`, '%', rest * 100),
  ];
}
