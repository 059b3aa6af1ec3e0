import type { Declaration } from './declarations.ts';
import type { Rule, SourceTree } from './rules.ts';

/**
 * Words that no identifier and no file name of the product contains. The field has a word for each
 * idea they stood for: see "Names" in CONTRIBUTING.md.
 */
export const FORBIDDEN_WORDS: ReadonlySet<string> = new Set(
  `among erred everywhere farewell feeding giving hear heard hears lacking lacks meant news nobody
  quietly said saying sayings says seal sealed spoilt spoken stay stays tell tells told trouble
  unasked wake whoever wish wishes
  behaviour cancelled catalogue colour initialise normalise normalised serialisable serialise
  serialised summarise summarised summariser`.split(/\s+/),
);

/**
 * Keys of arcs and fields of stored tokens: they are part of net hashes and of journals, so they
 * cannot be renamed without a migration.
 */
const storedNames: ReadonlySet<string> = new Set(['said', 'heard']);

/** Names in `Of` that every reader knows from JSON Schema. */
const allowedOf: ReadonlySet<string> = new Set(['oneof', 'allof', 'anyof']);

/** A declaration of the product, or the name of one of its files, with its path. */
type Declared = Declaration & { readonly path: string };

/** No identifier that the product declares contains a forbidden word. */
export const namesUseKnownWords: Rule = (tree) =>
  listDeclarations(tree)
    .filter(({ name }) => !storedNames.has(name))
    .flatMap(({ path, name }) =>
      splitWords(name)
        .filter((word) => FORBIDDEN_WORDS.has(word))
        .map((word) => `${path} declares ${name}: use the standard word for "${word}"`),
    );

/** No name ends in `Of`: a function is a verb or a well-known noun. */
export const noNameEndsInOf: Rule = (tree) =>
  listDeclarations(tree)
    .filter(({ name }) => name.endsWith('Of') && !allowedOf.has(name.toLowerCase()))
    .map(({ path, name }) => `${path} declares ${name}: name it toX, findX, readX, isX or listX`);

/**
 * An exported type name is declared once in the package. The folders named here repeat the names
 * of another vocabulary: ADK's, and the wire protocol's.
 */
export const typeNamesHaveOneMeaning =
  (vocabularies: readonly string[]): Rule =>
  (tree) => {
    const places = new Map<string, string>();
    return listDeclarations(tree)
      .filter(
        ({ exported, type, path }) =>
          exported && type && !vocabularies.some((folder) => path.startsWith(folder)),
      )
      .flatMap(({ name, path }) => {
        const other = places.get(name);
        places.set(name, path);
        return other === undefined || other === path
          ? []
          : [`${path} exports the type ${name}, as ${other} does: one name has one meaning`];
      });
  };

/** Words of an identifier, in lower case: `fromSeqNow` is from, seq and now. */
export function splitWords(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** All declarations of the product, and the names of its files. */
function listDeclarations(tree: SourceTree): readonly Declared[] {
  return tree.modules
    .filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path))
    .flatMap(({ path, declarations }) => [
      {
        path,
        name: path.slice(path.lastIndexOf('/') + 1, -'.ts'.length),
        exported: false,
        type: false,
      },
      ...declarations.map((declaration) => ({ path, ...declaration })),
    ]);
}
