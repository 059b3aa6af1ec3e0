/** Models of production, of biochemistry and of puzzles, written from their descriptions. */
import { places, range, transition } from './contest-net.ts';
import type { ContestNet, ContestTransition } from './contest-net.ts';

/** Four production cells with n kanban cards each: 4 feeds 2 and 3 in parallel, which feed 1. */
export function kanban(n: number): ContestNet {
  const cells = range(1, 4);
  return {
    name: `Kanban-PT-${n}`,
    places: places(
      ...cells.flatMap((c): (readonly [string, number])[] => [
        [`P${c}`, n],
        [`Pm${c}`, 0],
        [`Pback${c}`, 0],
        [`Pout${c}`, 0],
      ]),
    ),
    transitions: [
      ...cells.flatMap((c) => [
        transition(`tredo${c}`, [`Pm${c}`], [`Pback${c}`]),
        transition(`tback${c}`, [`Pback${c}`], [`Pm${c}`]),
        transition(`tok${c}`, [`Pm${c}`], [`Pout${c}`]),
      ]),
      transition('tin4', ['P4'], ['Pm4']),
      transition('tsynch4_23', ['Pout4', 'P2', 'P3'], ['P4', 'Pm2', 'Pm3']),
      transition('tsynch23_1', ['Pout2', 'Pout3', 'P1'], ['P2', 'P3', 'Pm1']),
      transition('tout1', ['Pout1'], ['P1']),
    ],
  };
}

/** A flexible manufacturing system with n pallets of each of three kinds, and machines of three kinds. */
export function fms(n: number): ContestNet {
  const line = (k: 1 | 2, other: 1 | 2): readonly ContestTransition[] => [
    transition(`tP${k}`, [`P${k}`], [`P${k}wM${k}`]),
    transition(`tM${k}`, [`P${k}wM${k}`, `M${k}`], [`P${k}M${k}`]),
    transition(`tP${k}M${k}`, [`P${k}M${k}`], [`P${k}d`, `M${k}`]),
    transition(`tP${k}e`, [`P${k}d`], [`P${k}s`]),
    transition(`tP${k}j`, [`P${k}d`], [`P${k}wP${other}`]),
    transition(`tP${k}s`, [`P${k}s`], [`P${k}`]),
  ];
  const empty = (...names: readonly string[]): readonly (readonly [string, number])[] =>
    names.map((name) => [name, 0]);
  return {
    name: `FMS-PT-${n}`,
    places: places(
      ['P1', n],
      ['P2', n],
      ['P3', n],
      ['M1', 3],
      ['M2', 1],
      ['M3', 2],
      ...empty('P1wM1', 'P1M1', 'P1d', 'P1s', 'P1wP2', 'P2wM2', 'P2M2', 'P2d', 'P2s', 'P2wP1'),
      ...empty('P12', 'P12wM3', 'P12M3', 'P12s', 'P3M2', 'P3s'),
    ),
    transitions: [
      ...line(1, 2),
      ...line(2, 1),
      transition('tP3', ['P3'], ['P3M2']),
      transition('tP3M2', ['P3M2', 'M2'], ['P3s', 'M2']),
      transition('tP3s', ['P3s'], ['P3']),
      transition('tx', ['P1wP2', 'P2wP1'], ['P12']),
      transition('tP12', ['P12'], ['P12wM3']),
      transition('tM3', ['P12wM3', 'M3'], ['P12M3']),
      transition('tP12M3', ['P12M3'], ['P12s', 'M3']),
      transition('tP12s', ['P12s'], ['P1', 'P2']),
    ],
  };
}

/** Swimmers who need a cabin to change and a bag for their clothes: 20 n of them, 10 n cabins, 15 n bags. */
export function swimmingPool(n: number): ContestNet {
  return {
    name: `SwimmingPool-PT-${n}`,
    places: places(
      ['Out', 20 * n],
      ['Cabins', 10 * n],
      ['Bags', 15 * n],
      ['Entered', 0],
      ['WaitBag', 0],
      ['Undress', 0],
      ['InBath', 0],
      ['Dress', 0],
      ['Dressed', 0],
    ),
    transitions: [
      transition('Enter', ['Out'], ['Entered']),
      transition('GetK', ['Entered', 'Cabins'], ['WaitBag']),
      transition('GetB', ['WaitBag', 'Bags'], ['Undress']),
      transition('RelK', ['Undress'], ['InBath', 'Cabins']),
      transition('GetK2', ['InBath', 'Cabins'], ['Dress']),
      transition('RBag', ['Dress'], ['Dressed', 'Bags']),
      transition('RKey', ['Dressed'], ['Out', 'Cabins']),
    ],
  };
}

/** The ERK signaling pathway that RKIP regulates, with n molecules of each of five species. */
export function erk(n: number): ContestNet {
  const reversible = (
    name: string,
    from: readonly string[],
    to: readonly string[],
  ): readonly ContestTransition[] => [
    transition(name, from, to),
    transition(`${name}_back`, to, from),
  ];
  const start = ['Raf1Star', 'RKIP', 'ERKPP', 'MEKPP', 'RP'];
  const products = [
    'Raf1Star_RKIP',
    'Raf1Star_RKIP_ERKPP',
    'RKIPP',
    'ERK',
    'MEKPP_ERK',
    'RKIPP_RP',
  ];
  return {
    name: `ERK-PT-${n}`,
    places: places(
      ...start.map((species) => [species, n] as const),
      ...products.map((species) => [species, 0] as const),
    ),
    transitions: [
      ...reversible('r1', ['Raf1Star', 'RKIP'], ['Raf1Star_RKIP']),
      ...reversible('r3', ['Raf1Star_RKIP', 'ERKPP'], ['Raf1Star_RKIP_ERKPP']),
      transition('r5', ['Raf1Star_RKIP_ERKPP'], ['Raf1Star', 'ERK', 'RKIPP']),
      ...reversible('r6', ['MEKPP', 'ERK'], ['MEKPP_ERK']),
      transition('r8', ['MEKPP_ERK'], ['MEKPP', 'ERKPP']),
      ...reversible('r9', ['RKIPP', 'RP'], ['RKIPP_RP']),
      transition('r11', ['RKIPP_RP'], ['RKIP', 'RP']),
    ],
  };
}

/**
 * A gene network that oscillates with the time of day. Each species has at most n molecules: its capacity is a place
 * that holds what is missing.
 */
export function circadianClock(n: number): ContestNet {
  const species = ['ma', 'mr', 'a', 'r', 'c'];
  const make = (one: string, from: readonly string[]): ContestTransition =>
    transition(`${from.join('_')}_makes_${one}`, [...from, `cap_${one}`], [...from, one]);
  const degrade = (one: string, into: readonly string[] = []): ContestTransition =>
    transition(`degrade_${one}`, [one], [`cap_${one}`, ...into]);
  const bind = (gene: string): readonly ContestTransition[] => [
    transition(`bind_${gene}`, [gene, 'a'], [`${gene}_a`, 'cap_a']),
    transition(`release_${gene}`, [`${gene}_a`, 'cap_a'], [gene, 'a']),
  ];
  return {
    name: `CircadianClock-PT-${n}`,
    places: places(
      ['da', 1],
      ['dr', 1],
      ['da_a', 0],
      ['dr_a', 0],
      ...species.flatMap((one): (readonly [string, number])[] => [
        [one, 0],
        [`cap_${one}`, n],
      ]),
    ),
    transitions: [
      ...bind('da'),
      ...bind('dr'),
      make('ma', ['da']),
      make('ma', ['da_a']),
      make('mr', ['dr']),
      make('mr', ['dr_a']),
      make('a', ['ma']),
      make('r', ['mr']),
      transition('deactivate', ['a', 'r', 'cap_c'], ['c', 'cap_a', 'cap_r']),
      transition('degrade_c', ['c', 'cap_r'], ['r', 'cap_c']),
      degrade('ma'),
      degrade('mr'),
      degrade('a'),
      degrade('r'),
    ],
  };
}

/** The sieve of Eratosthenes: a number that is still there removes each of its multiples. */
export function eratosthenes(n: number): ContestNet {
  const numbers = range(2, n);
  return {
    name: `Eratosthenes-PT-${n}`,
    places: places(...numbers.map((k) => [`p${k}`, 1] as const)),
    transitions: numbers.flatMap((k) =>
      numbers
        .filter((m) => m > k && m % k === 0)
        .map((m) => transition(`t${k}_${m}`, [`p${k}`, `p${m}`], [`p${k}`])),
    ),
  };
}

/** n queens that are placed on a board of n times n so that none attacks another one. */
export function nQueens(n: number): ContestNet {
  const ids = range(1, n);
  const squares = ids.flatMap((row) => ids.map((column) => [row, column] as const));
  return {
    name: `NQueens-PT-${n}`,
    places: places(
      ...ids.flatMap((k): (readonly [string, number])[] => [
        [`row_${k}`, 1],
        [`column_${k}`, 1],
      ]),
      ...range(1, 2 * n).flatMap((k): (readonly [string, number])[] => [
        [`falling_${k}`, 1],
        [`rising_${k}`, 1],
      ]),
      ...squares.map(([row, column]) => [`queen_${row}_${column}`, 0] as const),
    ),
    transitions: squares.map(([row, column]) =>
      transition(
        `place_${row}_${column}`,
        [`row_${row}`, `column_${column}`, `falling_${row - column + n}`, `rising_${row + column}`],
        [`queen_${row}_${column}`],
      ),
    ),
  };
}

/** A grid of n times n cells with one token each; a token may move to any of the cells around its own. */
export function neighborGrid(n: number): ContestNet {
  const ids = range(0, n - 1);
  const cells = ids.flatMap((row) => ids.map((column) => [row, column] as const));
  return {
    name: `NeighborGrid-PT-d2n${n}m1`,
    places: places(...cells.map(([row, column]) => [`c_${row}_${column}`, 1] as const)),
    transitions: cells.flatMap(([row, column]) =>
      cells
        .filter(([r, c]) => Math.max(Math.abs(r - row), Math.abs(c - column)) === 1)
        .map(([r, c]) =>
          transition(`t_${row}_${column}_${r}_${c}`, [`c_${row}_${column}`], [`c_${r}_${c}`]),
        ),
    ),
  };
}
