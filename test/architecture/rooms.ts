import type { Rule } from './rules.ts';

/**
 * The sub-folders of each folder of `src/`, in the order of their imports: each may import itself
 * and those before it. `.` stands for the files at the folder's root; its `index.ts` and its
 * `internal.ts` may import all. `x/*` stands for the sub-folders of `x`: none of them imports another.
 */
export const ROOM_ORDER: Readonly<Record<string, readonly string[]>> = {
  core: [
    'errors',
    'json',
    'validation',
    'identity',
    'state',
    'content',
    'events',
    'turn',
    'package',
  ],
  net: ['clock', 'language', 'build', 'journal', 'diagram', 'engine'],
  verify: [
    'properties',
    'system',
    'contracts',
    'search',
    'reduction',
    'smt',
    'trace',
    'replay',
    '.',
  ],
  store: [
    '.',
    'copies',
    'rules',
    'encoding',
    'contract',
    'memory',
    'sqlite/database',
    'sqlite/owners',
    'sqlite/tables',
    'sqlite',
    'server',
    'postgres',
    'mysql',
    'open',
  ],
  models: [
    'model',
    'schema',
    'scripted',
    'contract',
    'provider',
    'prompt',
    'reference',
    'response',
    '.',
  ],
  tools: [
    'artifacts',
    'artifacts/gcs',
    'artifacts/s3',
    'auth',
    'memory',
    'sandbox',
    'schema',
    'state',
    'contract',
    'tool',
    'session-tools',
    'built-in/web',
    'built-in/workspace',
    'built-in/commands',
    'built-in/files',
    'built-in',
    'openapi',
    'retrieval',
    'mcp/vocabulary',
    'mcp/auth',
    'mcp/transport',
    'mcp/tools',
    'mcp',
  ],
  agents: [
    'vocabulary',
    'prompt',
    'state',
    'callbacks',
    'generator',
    'tool-calls',
    'turn',
    'session',
    'transfer',
    'outcomes',
    'agent',
    'model',
    'tools',
    'composition',
    'custom',
    'remote',
    'workflow',
    'llm',
    'kinds',
    'proofs',
  ],
  runtime: [
    'scheduling',
    'quotas',
    'interceptors',
    'log',
    'memory',
    'journal',
    'copies',
    'inspection',
    'session',
    'listing',
    'schedules',
    'retention',
    'called-agents',
    'hosting',
    'sources',
    '.',
  ],
  live: [
    'models',
    'models/scripted',
    'models/cascaded',
    'models/socket',
    'models/gemini',
    'models/openai',
    'vocabulary',
    'link',
    'duplex',
    'command',
    'hub',
    'agent',
    '.',
  ],
  adk: [
    'compaction',
    'sessions',
    'sessions/contract',
    'vertex-ai',
    'live',
    'contracts',
    'plugins',
    'tools',
    'agents',
    'workflow',
    'app',
    'runner',
    'builder',
  ],
  managed: ['interface', 'parsing', 'catalogs', 'projections', 'compilation', 'sessions', '.'],
  interop: ['google-adk', 'libpetri', 'pnml', 'restate'],
  server: [
    'http',
    'console',
    'metrics',
    'wire',
    'wire/responses',
    'auth',
    'idempotency',
    'webhooks',
    'workers',
    'proofs',
    'routing',
    'events',
    'routes',
    'retention',
    'live',
    'protocols',
    'protocols/*',
    '.',
  ],
  cli: [
    'command',
    'loading',
    'terminal',
    'chat',
    'replay',
    'serve',
    'adk',
    'dev',
    'prove',
    'commands',
    '.',
  ],
};

/** Inside a folder, a sub-folder imports only itself and the sub-folders before it. */
export const followsRoomOrder =
  (order: Readonly<Record<string, readonly string[]>>): Rule =>
  (tree) =>
    tree.modules
      .filter(({ path }) => /^src\/[^/]+\/.*(?<!\.test)\.ts$/.test(path))
      .flatMap((module) => {
        const { folder, room, door } = splitPath(module.path);
        const rooms = order[folder];
        if (rooms === undefined && room !== '.') {
          return [`src/${folder} has the room ${room} and no order`];
        }
        if (door) return [];
        if (module.imports.some(({ target = '' }) => isOwnDoor(target, folder))) {
          return [`${module.path} imports a door of its own folder`];
        }
        if (rooms === undefined) return [];
        const own = findRoomIndex(rooms, room);
        if (own === -1) return [`${module.path} is in no known room of src/${folder}`];
        return module.imports.flatMap(({ target, specifier }) => {
          if (target === undefined) return [];
          const other = splitPath(target);
          if (other.folder !== folder) return [];
          const index = findRoomIndex(rooms, other.room);
          return index > own || (index === own && other.room !== room)
            ? [`${module.path} imports ${specifier}, which is not before it`]
            : [];
        });
      });

/** The place of a room in the order. -1: it is in no list. */
function findRoomIndex(rooms: readonly string[], room: string): number {
  const own = rooms.indexOf(room);
  return own === -1 ? rooms.indexOf(`${room.slice(0, room.lastIndexOf('/'))}/*`) : own;
}

function isOwnDoor(target: string, folder: string): boolean {
  const other = splitPath(target);
  return other.folder === folder && other.door;
}

function splitPath(path: string): { folder: string; room: string; door: boolean } {
  const [, folder = '', ...rest] = path.split('/');
  return {
    folder,
    room: rest.slice(0, -1).join('/') || '.',
    door: /^(?:index|internal)\.ts$/.test(rest.join('/')),
  };
}
