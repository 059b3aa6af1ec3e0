import { toColoredPnml } from './colored-pnml.ts';
import type { ContestNet } from './contest-net.ts';
import {
  circadianClock,
  eratosthenes,
  erk,
  fms,
  kanban,
  neighborGrid,
  nQueens,
  swimmingPool,
} from './other-models.ts';
import {
  coloredPhilosophers,
  coloredReferendum,
  coloredSharedMemory,
  coloredTokenRing,
  dekker,
  philosophers,
  referendum,
  rwMutex,
  sharedMemory,
  tokenRing,
} from './protocol-models.ts';

/** What the contest published about one instance of a model. */
export interface PublishedFacts {
  readonly markings: number;
  readonly arcs: number;
  readonly maxInPlace: number;
  readonly maxInMarking: number;
  readonly hasDeadlock: boolean;
}

/** An instance of a model: the net that was rebuilt, and the published facts. */
export interface ContestInstance {
  /** The name of the instance in the contest. */
  readonly name: string;
  readonly net: () => ContestNet;
  /** The colored version of the same net, as a PNML document. */
  readonly colored?: () => string;
  readonly published: PublishedFacts;
  /** True if `npm test` checks it; otherwise only `npm run test:long` does. */
  readonly quick: boolean;
}

/**
 * The answers of the Model Checking Contest 2020. Numbers: examination StateSpace, by the tool tedd. Deadlocks:
 * examination ReachabilityDeadlock, on which the tools agreed. Both are collected in github.com/yanntm/pnmcc-models-2020,
 * in the files `oracle/<name>-SS.out` and `oracle/<name>-RD.out`.
 */
export const INSTANCES: readonly ContestInstance[] = [
  {
    name: 'Philosophers-PT-000005',
    net: () => philosophers(5),
    colored: () => toColoredPnml(coloredPhilosophers(5)),
    published: facts(243, 945, 1, 10, true),
    quick: true,
  },
  {
    name: 'TokenRing-PT-005',
    net: () => tokenRing(5),
    colored: () => toColoredPnml(coloredTokenRing(5)),
    published: facts(166, 365, 1, 6, false),
    quick: true,
  },
  {
    name: 'TokenRing-PT-010',
    net: () => tokenRing(10),
    colored: () => toColoredPnml(coloredTokenRing(10)),
    published: facts(58_905, 294_050, 1, 11, false),
    quick: false,
  },
  {
    name: 'SharedMemory-PT-000005',
    net: () => sharedMemory(5),
    colored: () => toColoredPnml(coloredSharedMemory(5)),
    published: facts(1_863, 10_395, 1, 11, false),
    quick: true,
  },
  {
    name: 'Referendum-PT-0010',
    net: () => referendum(10),
    colored: () => toColoredPnml(coloredReferendum(10)),
    published: facts(59_050, 393_661, 1, 10, true),
    quick: false,
  },
  {
    name: 'Dekker-PT-010',
    net: () => dekker(10),
    published: facts(6_144, 171_530, 1, 20, false),
    quick: false,
  },
  {
    name: 'RwMutex-PT-r0010w0010',
    net: () => rwMutex(10, 10),
    published: facts(1_034, 10_260, 1, 30, false),
    quick: true,
  },
  {
    name: 'SwimmingPool-PT-01',
    net: () => swimmingPool(1),
    published: facts(89_621, 450_003, 20, 45, false),
    quick: false,
  },
  {
    name: 'FMS-PT-00002',
    net: () => fms(2),
    published: facts(3_444, 16_311, 3, 12, false),
    quick: true,
  },
  {
    name: 'Kanban-PT-00005',
    net: () => kanban(5),
    published: facts(2_546_432, 24_460_016, 5, 20, false),
    quick: false,
  },
  {
    name: 'ERK-PT-000001',
    net: () => erk(1),
    published: facts(13, 30, 1, 5, false),
    quick: true,
  },
  {
    name: 'ERK-PT-000010',
    net: () => erk(10),
    published: facts(47_047, 372_372, 10, 50, false),
    quick: false,
  },
  {
    name: 'CircadianClock-PT-000001',
    net: () => circadianClock(1),
    published: facts(128, 624, 1, 7, false),
    quick: true,
  },
  {
    name: 'Eratosthenes-PT-010',
    net: () => eratosthenes(10),
    published: facts(32, 120, 1, 9, true),
    quick: true,
  },
  {
    name: 'Eratosthenes-PT-020',
    net: () => eratosthenes(20),
    published: facts(2_048, 23_040, 1, 19, true),
    quick: true,
  },
  {
    name: 'NQueens-PT-05',
    net: () => nQueens(5),
    published: facts(462, 1_295, 1, 30, true),
    quick: true,
  },
  {
    name: 'NeighborGrid-PT-d2n3m1c12',
    net: () => neighborGrid(3),
    published: facts(24_310, 514_800, 9, 9, false),
    quick: false,
  },
];

function facts(
  markings: number,
  arcs: number,
  maxInPlace: number,
  maxInMarking: number,
  hasDeadlock: boolean,
): PublishedFacts {
  return { markings, arcs, maxInPlace, maxInMarking, hasDeadlock };
}
