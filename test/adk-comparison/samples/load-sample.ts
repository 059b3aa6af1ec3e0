import { registerHooks } from 'node:module';

/** The package that a sample imports: `@google/adk` as it is written, or `petrichor/adk` in its place. */
export type AdkPackage = '@google/adk' | 'petrichor/adk';

const PETRICHOR = new URL('../../../src/adk/index.ts', import.meta.url).href;
const MARK = '?petrichor';

// A module that was loaded with the mark gets Petrichor where it imports ADK: the only change of a sample.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@google/adk' && context.parentURL?.endsWith(MARK) === true
      ? next(PETRICHOR, context)
      : next(specifier, context),
});

/** Loads the root agent of a sample on a package. */
export async function loadRootAgent(sample: string, on: AdkPackage): Promise<object> {
  const { rootAgent }: { readonly rootAgent: object } = await import(
    `./${sample}.ts${on === 'petrichor/adk' ? MARK : ''}`
  );
  return rootAgent;
}
