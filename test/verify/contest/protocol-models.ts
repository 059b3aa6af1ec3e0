/**
 * Models of protocols and of shared resources. Each was written from its description, not copied from a file of the
 * contest; that its four published numbers come out is the evidence that it is the same net.
 */
import {
  all,
  apply,
  cyclic,
  dot,
  DOT,
  intRange,
  product,
  times,
  variable,
} from './colored-pnml.ts';
import type { ColoredNet } from './colored-pnml.ts';
import { places, range, transition } from './contest-net.ts';
import type { ContestNet } from './contest-net.ts';

/** n philosophers; each takes one fork after the other, in any order. */
export function philosophers(n: number): ContestNet {
  const ids = range(1, n);
  const next = (x: number): number => (x % n) + 1;
  return {
    name: `Philosophers-PT-${n}`,
    places: places(
      ...ids.flatMap((x): (readonly [string, number])[] => [
        [`Think[${x}]`, 1],
        [`Fork[${x}]`, 1],
        [`Catch1[${x}]`, 0],
        [`Catch2[${x}]`, 0],
        [`Eat[${x}]`, 0],
      ]),
    ),
    transitions: ids.flatMap((x) => {
      const [left, right] = [`Fork[${x}]`, `Fork[${next(x)}]`];
      return [
        transition(`FF1a[x=${x}]`, [`Think[${x}]`, left], [`Catch1[${x}]`]),
        transition(`FF1b[x=${x}]`, [`Think[${x}]`, right], [`Catch2[${x}]`]),
        transition(`FF2a[x=${x}]`, [`Catch1[${x}]`, right], [`Eat[${x}]`]),
        transition(`FF2b[x=${x}]`, [`Catch2[${x}]`, left], [`Eat[${x}]`]),
        transition(`End[x=${x}]`, [`Eat[${x}]`], [`Think[${x}]`, left, right]),
      ];
    }),
  };
}

export function coloredPhilosophers(n: number): ColoredNet {
  const x = variable('x');
  const next = apply('successor', x);
  return {
    name: `Philosophers-COL-${n}`,
    sorts: { Philo: cyclic('p', range(1, n)) },
    variables: { x: 'Philo' },
    places: {
      Think: ['Philo', all('Philo')],
      Fork: ['Philo', all('Philo')],
      Catch1: ['Philo'],
      Catch2: ['Philo'],
      Eat: ['Philo'],
    },
    transitions: {
      FF1a: {
        take: [
          ['Think', x],
          ['Fork', x],
        ],
        give: [['Catch1', x]],
      },
      FF1b: {
        take: [
          ['Think', x],
          ['Fork', next],
        ],
        give: [['Catch2', x]],
      },
      FF2a: {
        take: [
          ['Catch1', x],
          ['Fork', next],
        ],
        give: [['Eat', x]],
      },
      FF2b: {
        take: [
          ['Catch2', x],
          ['Fork', x],
        ],
        give: [['Eat', x]],
      },
      End: {
        take: [['Eat', x]],
        give: [
          ['Think', x],
          ['Fork', apply('add', x, next)],
        ],
      },
    },
  };
}

/** n processors, each with a memory; to reach the memory of another one, a processor needs the bus. */
export function sharedMemory(n: number): ContestNet {
  const ids = range(1, n);
  const pairs = ids.flatMap((x) => ids.filter((m) => m !== x).map((m) => [x, m] as const));
  return {
    name: `SharedMemory-PT-${n}`,
    places: places(
      ['Ext_Bus', 1],
      ...ids.flatMap((x): (readonly [string, number])[] => [
        [`Active[${x}]`, 1],
        [`Memory[${x}]`, 1],
        [`OwnMemAcc[${x}]`, 0],
        [`Queue[${x}]`, 0],
      ]),
      ...pairs.map(([x, m]) => [`Ext_Mem_Acc[${x},${m}]`, 0] as const),
    ),
    transitions: [
      ...ids.flatMap((x) => [
        transition(`Begin_Own_Acc[x=${x}]`, [`Active[${x}]`], [`OwnMemAcc[${x}]`]),
        transition(
          `End_Own_Acc[x=${x}]`,
          [`OwnMemAcc[${x}]`, `Memory[${x}]`],
          [`Active[${x}]`, `Memory[${x}]`],
        ),
        transition(`Req_Ext_Acc[x=${x}]`, [`Active[${x}]`], [`Queue[${x}]`]),
      ]),
      ...pairs.flatMap(([x, m]) => {
        const access = `Ext_Mem_Acc[${x},${m}]`;
        return [
          transition(
            `Begin_Ext_Acc[x=${x},m=${m}]`,
            [`Queue[${x}]`, `Memory[${m}]`, 'Ext_Bus'],
            [access],
          ),
          transition(
            `End_Ext_Acc[x=${x},m=${m}]`,
            [access],
            [`Active[${x}]`, `Memory[${m}]`, 'Ext_Bus'],
          ),
        ];
      }),
    ],
  };
}

export function coloredSharedMemory(n: number): ColoredNet {
  const [x, m] = [variable('x'), variable('m')];
  const pair = apply('tuple', x, m);
  return {
    name: `SharedMemory-COL-${n}`,
    sorts: { Dot: DOT, P: intRange(1, n), PxP: product('P', 'P') },
    variables: { x: 'P', m: 'P' },
    places: {
      Ext_Bus: ['Dot', times(1, dot)],
      Active: ['P', all('P')],
      Memory: ['P', all('P')],
      OwnMemAcc: ['P'],
      Queue: ['P'],
      Ext_Mem_Acc: ['PxP'],
    },
    transitions: {
      Begin_Own_Acc: { take: [['Active', x]], give: [['OwnMemAcc', x]] },
      End_Own_Acc: {
        when: apply('equality', m, x),
        take: [
          ['OwnMemAcc', x],
          ['Memory', m],
        ],
        give: [
          ['Active', x],
          ['Memory', m],
        ],
      },
      Req_Ext_Acc: { take: [['Active', x]], give: [['Queue', x]] },
      Begin_Ext_Acc: {
        when: apply('inequality', x, m),
        take: [
          ['Queue', x],
          ['Memory', m],
          ['Ext_Bus', dot],
        ],
        give: [['Ext_Mem_Acc', pair]],
      },
      End_Ext_Acc: {
        when: apply('not', apply('equality', x, m)),
        take: [['Ext_Mem_Acc', pair]],
        give: [
          ['Active', x],
          ['Memory', m],
          ['Ext_Bus', dot],
        ],
      },
    },
  };
}

/** Dijkstra's self-stabilizing ring of the processes 0 to n, each of which begins in the state of its number. */
export function tokenRing(n: number): ContestNet {
  const ids = range(0, n);
  const at = (process: number, state: number): string => `State[${process},${state}]`;
  return {
    name: `TokenRing-PT-${n}`,
    places: places(...ids.flatMap((p) => ids.map((s) => [at(p, s), p === s ? 1 : 0] as const))),
    transitions: [
      ...ids.map((s) =>
        transition(
          `MainProcess[s=${s}]`,
          [at(0, s), at(n, s)],
          [at(0, (s + 1) % (n + 1)), at(n, s)],
        ),
      ),
      ...range(1, n).flatMap((p) =>
        ids.flatMap((own) =>
          ids
            .filter((other) => other !== own)
            .map((other) =>
              transition(
                `OtherProcess[p=${p},own=${own},other=${other}]`,
                [at(p, own), at(p - 1, other)],
                [at(p, other), at(p - 1, other)],
              ),
            ),
        ),
      ),
    ],
  };
}

export function coloredTokenRing(n: number): ColoredNet {
  const [p, s, t] = [variable('p'), variable('s'), variable('t')];
  const state = (process: string, value: string): readonly [string, string] => [
    'State',
    apply('tuple', process, value),
  ];
  const first = '<useroperator declaration="p0"/>';
  const last = `<useroperator declaration="p${n}"/>`;
  const before = apply('predecessor', p);
  return {
    name: `TokenRing-COL-${n}`,
    sorts: { Process: cyclic('p', range(0, n)), States: product('Process', 'Process') },
    variables: { p: 'Process', s: 'Process', t: 'Process' },
    places: {
      State: [
        'States',
        apply(
          'add',
          ...range(0, n).map((id) => {
            const own = `<useroperator declaration="p${id}"/>`;
            return times(1, apply('tuple', own, own));
          }),
        ),
      ],
    },
    transitions: {
      MainProcess: {
        take: [state(first, s), state(last, s)],
        give: [state(first, apply('successor', s)), state(last, s)],
      },
      OtherProcess: {
        when: apply('and', apply('inequality', s, t), apply('greaterthan', p, first)),
        take: [state(p, s), state(before, t)],
        give: [state(p, t), state(before, t)],
      },
    },
  };
}

/** n processes that enter a critical section when no other one has raised its flag. */
export function dekker(n: number): ContestNet {
  const ids = range(0, n - 1);
  const others = (x: number): readonly number[] => ids.filter((y) => y !== x);
  return {
    name: `Dekker-PT-${n}`,
    places: places(
      ...ids.flatMap((x): (readonly [string, number])[] => [
        [`idle_${x}`, 1],
        [`trying_${x}`, 0],
        [`critical_${x}`, 0],
        [`down_${x}`, 1],
        [`up_${x}`, 0],
      ]),
    ),
    transitions: ids.flatMap((x) => {
      const down = others(x).map((y) => `down_${y}`);
      return [
        transition(`try_${x}`, [`idle_${x}`, `down_${x}`], [`trying_${x}`, `up_${x}`]),
        ...others(x).map((y) =>
          transition(
            `withdraw_${x}_${y}`,
            [`trying_${x}`, `up_${x}`, `up_${y}`],
            [`idle_${x}`, `down_${x}`, `up_${y}`],
          ),
        ),
        transition(`enter_${x}`, [`trying_${x}`, ...down], [`critical_${x}`, ...down]),
        transition(`exit_${x}`, [`critical_${x}`, `up_${x}`], [`idle_${x}`, `down_${x}`]),
      ];
    }),
  };
}

/** Readers that hold one permit each, and writers that hold all permits. */
export function rwMutex(readers: number, writers: number): ContestNet {
  const [rs, ws] = [range(0, readers - 1), range(0, writers - 1)];
  const permits = rs.map((r) => `permit_${r}`);
  return {
    name: `RwMutex-PT-r${readers}w${writers}`,
    places: places(
      ...rs.flatMap((r): (readonly [string, number])[] => [
        [`permit_${r}`, 1],
        [`reader_${r}`, 1],
        [`reading_${r}`, 0],
      ]),
      ...ws.flatMap((w): (readonly [string, number])[] => [
        [`writer_${w}`, 1],
        [`writing_${w}`, 0],
      ]),
    ),
    transitions: [
      ...rs.flatMap((r) => [
        transition(`beginRead_${r}`, [`reader_${r}`, `permit_${r}`], [`reading_${r}`]),
        transition(`endRead_${r}`, [`reading_${r}`], [`reader_${r}`, `permit_${r}`]),
      ]),
      ...ws.flatMap((w) => [
        transition(`beginWrite_${w}`, [`writer_${w}`, ...permits], [`writing_${w}`]),
        transition(`endWrite_${w}`, [`writing_${w}`], [`writer_${w}`, ...permits]),
      ]),
    ],
  };
}

/** A referendum: after its start, each of n voters votes yes or no. */
export function referendum(n: number): ContestNet {
  const ids = range(1, n);
  return {
    name: `Referendum-PT-${n}`,
    places: places(
      ['ready', 1],
      ...ids.flatMap((v): (readonly [string, number])[] => [
        [`voting[${v}]`, 0],
        [`voted_yes[${v}]`, 0],
        [`voted_no[${v}]`, 0],
      ]),
    ),
    transitions: [
      transition(
        'start',
        ['ready'],
        ids.map((v) => `voting[${v}]`),
      ),
      ...ids.flatMap((v) => [
        transition(`yes[v=${v}]`, [`voting[${v}]`], [`voted_yes[${v}]`]),
        transition(`no[v=${v}]`, [`voting[${v}]`], [`voted_no[${v}]`]),
      ]),
    ],
  };
}

export function coloredReferendum(n: number): ColoredNet {
  const v = variable('v');
  return {
    name: `Referendum-COL-${n}`,
    sorts: { Dot: DOT, Voters: cyclic('v', range(1, n)) },
    variables: { v: 'Voters' },
    places: {
      ready: ['Dot', times(1, dot)],
      voting: ['Voters'],
      voted_yes: ['Voters'],
      voted_no: ['Voters'],
    },
    transitions: {
      start: { take: [['ready', dot]], give: [['voting', all('Voters')]] },
      yes: { take: [['voting', v]], give: [['voted_yes', v]] },
      no: { take: [['voting', v]], give: [['voted_no', v]] },
    },
  };
}
