import type { Program } from '../kit.ts';
import { agentPrograms } from './agents.ts';
import { callbackPrograms } from './callbacks.ts';
import { customPrograms } from './custom.ts';
import { memoryPrograms } from './memories.ts';
import { morePrograms } from './more.ts';
import { schemaPrograms } from './schemas.ts';
import { shippedToolPrograms } from './shipped-tools.ts';
import { toolPrograms } from './tools.ts';
import { treePrograms } from './trees.ts';
import { waitPrograms } from './waits.ts';

/** All programs, by area. */
export const programs: readonly Program[] = [
  ...agentPrograms,
  ...toolPrograms,
  ...treePrograms,
  ...callbackPrograms,
  ...schemaPrograms,
  ...customPrograms,
  ...morePrograms,
  ...shippedToolPrograms,
  ...waitPrograms,
  ...memoryPrograms,
];
