import type { ModuleFacts } from './module-facts.ts';
import type { Rule } from './rules.ts';

/**
 * Files that other folders import, beside `index.ts` and `internal.ts` of a folder and the entries of the package:
 * each with the reason why its names are in neither.
 */
export const ROOM_DOORS: Readonly<Record<string, string>> = {
  'src/core/events/check-log-event.ts':
    'for runtime/; needs valibot, which the client must not load from internal.ts',
  'src/core/validation/parse-with-schema.ts':
    'for data from outside; needs valibot, which the client must not load from internal.ts',
  'src/models/contract/index.ts': 'for testing/; needs node:assert',
  'src/models/provider/gemini-context-cache.ts': 'for adk/; no other folder needs it',
  'src/models/reference/model-address-and-key.ts':
    'for cli/; in internal.ts it would be loaded by the root entry',
  'src/models/response/classify-error.ts':
    'for live/; in internal.ts it would be loaded by the root entry',
  'src/models/schema/dereference.ts':
    'for tools/openapi/; in internal.ts it would be loaded by the root entry',
  'src/server/protocol-list.ts':
    'for the help of cli/; internal.ts loads the schemas of the HTTP API',
  'src/store/contract/index.ts': 'for testing/ and for unit tests; needs node:assert',
  'src/store/sqlite/sqlite-text-index.ts': 'needs node:sqlite; loaded when a memory is opened',
  'src/tools/built-in/commands/code-execution-tool.ts':
    'for adk/, without the web tools, which need the network',
  'src/tools/openapi/index.ts':
    'for adk/; in index.ts it would be loaded by every program with tools',
};

const TOP_DOOR = /^src\/[^/]+\/(?:index|internal)\.ts$/;

/** The source files of the subpaths of a package.json: `./dist/net/index.js` is `src/net/index.ts`. */
export function listPackageEntries(exports: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.values(exports).flatMap((target) => {
    if (typeof target !== 'object' || target === null || !('default' in target)) return [];
    return [String(target.default).replace('./dist/', 'src/').replace(/\.js$/, '.ts')];
  });
}

/**
 * A file of `src/<folder>/`, unit tests included, imports another folder only through a door: the folder's `index.ts`
 * or `internal.ts`, an entry of the package, or a listed file. `src/index.ts` imports any file.
 */
export const importsOtherFoldersByTheirDoors =
  (entries: readonly string[], roomDoors: Readonly<Record<string, string>>): Rule =>
  ({ files, modules }) => {
    const doors = new Set([...entries, ...Object.keys(roomDoors)]);
    const crossings = modules.flatMap(({ path, imports }) =>
      imports.flatMap(({ target, specifier }) => {
        const [own, other] = [getFolder(path), getFolder(target)];
        if (target === undefined || own === undefined || other === undefined) return [];
        return own === other ? [] : [{ path, target, specifier }];
      }),
    );
    const used = new Set(crossings.map(({ target }) => target));
    const paths = new Set(files.map(({ path }) => path));
    return [
      ...crossings
        .filter(({ target }) => !TOP_DOOR.test(target) && !doors.has(target))
        .map(
          ({ path, specifier }) =>
            `${path} imports ${specifier}: import the folder's index.ts or internal.ts`,
        ),
      ...Object.keys(roomDoors).flatMap((path) => {
        if (!paths.has(path)) return [`${path} is listed and not there`];
        return used.has(path) ? [] : [`${path} is listed and no other folder imports it`];
      }),
    ];
  };

/** An `internal.ts` names what it passes on from its own folder, and holds nothing else. */
export const internalDoorsOnlyPassOn: Rule = ({ modules }) =>
  modules
    .filter(({ path }) => /^src\/[^/]+\/internal\.ts$/.test(path))
    .flatMap((module) => [
      ...(holdsCode(module) ? [`${module.path} holds code: it may only pass names on`] : []),
      ...module.imports
        .filter(({ target }) => getFolder(target) !== getFolder(module.path))
        .map(({ specifier }) => `${module.path} passes ${specifier} on, which is not its own`),
      ...module.imports
        .filter(({ target = '' }) => TOP_DOOR.test(target))
        .map(({ specifier }) => `${module.path} passes on ${specifier}: name the file`),
    ]);

function holdsCode({ exportsStar, declarations, calls }: ModuleFacts): boolean {
  return exportsStar || declarations.length > 0 || calls.size > 0;
}

/** `net` for `src/net/language/net.ts`; `undefined` for a file that is in no folder of `src/`. */
function getFolder(path: string | undefined): string | undefined {
  return /^src\/([^/]+)\//.exec(path ?? '')?.[1];
}
