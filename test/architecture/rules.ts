import { readModule, type ModuleFacts, type ModuleImport, type TreeFile } from './module-facts.ts';

/** A tree of files, its modules read once for all rules. */
export interface SourceTree {
  readonly files: readonly TreeFile[];
  /** Every TypeScript file. */
  readonly modules: readonly ModuleFacts[];
}

/** @throws Error when a TypeScript file does not parse. */
export function readSourceTree(files: readonly TreeFile[]): SourceTree {
  return { files, modules: files.filter(({ path }) => path.endsWith('.ts')).map(readModule) };
}

/** The order of the folders of `src/`: each may import itself and those before it. */
export const folderOrder: readonly string[] = [
  'core',
  'net',
  'files',
  'verify',
  'store',
  'egress',
  'models',
  'tools',
  'agents',
  'runtime',
  'live',
  'telemetry',
  'managed',
  'adk',
  'interop',
  'testing',
  'client',
  'server',
  'cli',
];

/** A rule reads a whole tree and returns one sentence for each place that breaks it. */
export type Rule = (tree: SourceTree) => readonly string[];

/** A folder imports only itself and folders before it; `index.ts` is the one file beside them. */
export const followsFolderOrder: Rule = (tree) =>
  productModules(tree).flatMap((module) => {
    if (module.path === 'src/index.ts') return [];
    const ownIndex = folderOrder.indexOf(getFolder(module.path));
    if (ownIndex === -1) return [`${module.path} is in no known folder of src/`];
    return module.imports
      .filter(({ target }) => target !== undefined)
      .filter(({ target = '' }) => {
        const other = folderOrder.indexOf(getFolder(target));
        return !target.startsWith('src/') || other === -1 || other > ownIndex;
      })
      .map(({ specifier }) => `${module.path} imports ${specifier}, which is not before it`);
  });

/** No file can reach itself by following imports, types included. */
export const hasNoCycles: Rule = (tree) => {
  const targets = new Map(
    productModules(tree).map((module) => [
      module.path,
      module.imports.flatMap(({ target }) => (target === undefined ? [] : [target])),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' -> '));
    if (start !== -1 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
};

/** The root index names what it exports, so that a reader sees it. */
export const rootIndexNamesItsExports: Rule = (tree) =>
  productModules(tree)
    .filter(({ path, exportsStar }) => path === 'src/index.ts' && exportsStar)
    .map(({ path }) => `${path} has an "export *": name each export`);

/** Only `store/` contains SQL. */
export const onlyStoreKnowsSql: Rule = (tree) =>
  listImports(tree)
    .filter(([, { specifier }]) =>
      ['node:sqlite', 'pg', 'postgres', 'mysql2', 'mysql2/promise'].includes(specifier),
    )
    .filter(([{ path }]) => getFolder(path) !== 'store')
    .map(([{ path }, { specifier }]) => `${path} imports ${specifier}: only store/ may`);

/**
 * What may touch the process: the program itself, and two warnings that have nowhere else to go. One is about a listener
 * that throws, the other about an input that was refused and whose turn the program does not look at. And the default
 * environment of the models that agents name.
 */
const touchesProcess: ReadonlySet<string> = new Set([
  'src/cli/main.ts',
  'src/core/errors/safe-listener.ts',
  'src/runtime/sources/named-models.ts',
  'src/runtime/session/turn.ts',
]);

/** Only `cli/main.ts` touches the process and the console; everything else is given what it needs. */
export const onlyMainTouchesTheProcess: Rule = (tree) =>
  productModules(tree)
    .filter(({ path }) => !touchesProcess.has(path))
    .flatMap(({ path, names, imports }) =>
      ['process', 'console']
        .filter(
          (name) =>
            names.has(name) ||
            imports.some(({ specifier }) => specifier.replace('node:', '') === name),
        )
        .map((name) => `${path} uses ${name}: only cli/main.ts may`),
    );

const inputOutput: ReadonlySet<string> = new Set(
  'child_process cluster dgram dns fs fs/promises http http2 https inspector net os readline repl sqlite tls tty worker_threads'.split(
    ' ',
  ),
);
const networkNames: readonly string[] = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'];

/** `core/` and `net/` do no input or output. */
export const coreAndNetDoNoInputOutput: Rule = (tree) =>
  productModules(tree)
    .filter(({ path }) => ['core', 'net'].includes(getFolder(path)))
    .flatMap(({ path, imports, names }) => [
      ...imports
        .filter(({ specifier }) => inputOutput.has(specifier.replace('node:', '')))
        .map(({ specifier }) => `${path} imports ${specifier}: core/ and net/ do no I/O`),
      ...networkNames
        .filter((name) => names.has(name))
        .map((name) => `${path} uses ${name}: core/ and net/ do no I/O`),
    ]);

/**
 * An optional peer is loaded by `import('…')` where it is needed, never at start. An entry for
 * one peer alone, which nothing else imports, may load it at start.
 */
export const optionalPeersAreLazy =
  (optionalPeers: readonly string[], ownEntries: Readonly<Record<string, string>> = {}): Rule =>
  (tree) => [
    ...listImports(tree)
      .filter(
        ([{ path }, { target }]) =>
          target !== undefined &&
          Object.values(ownEntries).some(
            (folder) => target.startsWith(folder) && !path.startsWith(folder),
          ),
      )
      .map(([{ path }, { specifier }]) => `${path} imports ${specifier}, which needs its peer`),
    ...listImports(tree)
      .filter(([, { specifier }]) =>
        optionalPeers.some((peer) => specifier === peer || specifier.startsWith(`${peer}/`)),
      )
      .filter(([, { lazy, typeOnly }]) => !lazy && !typeOnly)
      .filter(([{ path }, { specifier }]) => !path.startsWith(ownEntries[specifier] ?? '//'))
      .map(
        ([{ path }, { specifier }]) => `${path} imports the optional ${specifier}: use import()`,
      ),
  ];

/** The product imports itself by relative paths, and never imports a test. */
export const importsNoTestAndNotItselfByName: Rule = (tree) =>
  listImports(tree)
    .filter(
      ([, { specifier }]) =>
        specifier === 'petrichor' ||
        specifier.startsWith('petrichor/') ||
        specifier.endsWith('.test.ts'),
    )
    .map(([{ path }, { specifier }]) => `${path} imports ${specifier}`);

/** The only file that compiles regular expressions from outside the program. */
const PATTERN_COMPILER = 'src/tools/schema/linear-pattern.ts';

/**
 * A regular expression from outside may backtrack exponentially. Only one file compiles them, and
 * it matches in linear time.
 */
export const compilesPatternsInOnePlace: Rule = (tree) =>
  productModules(tree)
    .filter(({ path }) => path !== PATTERN_COMPILER)
    .flatMap(({ path, calls, imports }) => [
      ...(calls.has('RegExp') ? [`${path} calls RegExp: use linearPattern()`] : []),
      ...imports
        .filter(({ specifier }) => specifier === 're2js')
        .map(() => `${path} imports re2js: use linearPattern()`),
    ]);

/** No module has mutable state, so two runtimes in one process are independent. */
export const hasNoModuleState: Rule = (tree) =>
  productModules(tree).flatMap(({ path, mutableState }) =>
    mutableState.map((name) => `${path} keeps ${name} at module level: pass it in`),
  );

/** A comment that silences a gate has a reason. */
export const exceptionsHaveReasons: Rule = ({ modules }) =>
  modules.flatMap(({ path, comments }) =>
    comments
      .filter((comment) => /(?:oxlint|eslint)-disable/.test(comment))
      .filter((comment) => !/ -- \S+ \S+/.test(comment))
      .map((comment) => `${path}: "${comment.trim()}" needs " -- " and a reason`),
  );

const vagueWords: ReadonlySet<string> = new Set(
  'util utils type types helper helpers manager handler handlers processor tick job common misc'.split(
    ' ',
  ),
);

/** Files are kebab-case and named after the one thing they hold. */
export const fileNamesSaySomething: Rule = ({ files }) =>
  files
    .filter(({ path }) => /^(?:src|test|examples|scripts|bench)\/.*\.ts$/.test(path))
    .flatMap(({ path }) => {
      const name = path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.[a-z]+)?\.ts$/, '');
      if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return [`${path} is not kebab-case`];
      const vague = name.split('-').filter((word) => vagueWords.has(word));
      return vague.map((word) => `${path}: "${word}" is too vague, name the idea`);
    });

// The brackets keep these patterns from matching themselves.
const strangers: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a path of one machine', /(?<![\w.}-])[/](?:work|root|Users)[/]|[/]home[/][a-z]+[/]/],
  ['a path outside the repository', /[.][.][/](?:shared|seeds|workplace)(?:[/'"`\s)]|$)/],
  [
    'a package registry',
    /\bregistry[.](?:npmjs|yarnpkg|npmmirror)[.]|\/\/[^/\s"']*(?:artifactory|nexus|jfrog|verdaccio|codeartifact)/i,
  ],
];

/** No file names a machine or a registry. */
export const namesNoMachine: Rule = ({ files }) =>
  files.flatMap(({ path, text }) =>
    strangers.flatMap(([what, pattern]) => {
      const found = pattern.exec(text);
      return found ? [`${path} names ${what}: ${found[0]}`] : [];
    }),
  );

function productModules(tree: SourceTree): readonly ModuleFacts[] {
  return tree.modules.filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path));
}

function listImports(tree: SourceTree): readonly (readonly [ModuleFacts, ModuleImport])[] {
  return productModules(tree).flatMap((module) =>
    module.imports.map((one) => [module, one] as const),
  );
}

function getFolder(path: string): string {
  return path.split('/')[1] ?? '';
}
