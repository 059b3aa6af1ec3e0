import { PetrichorError } from '../core/index.ts';

/** A built-in tool, or a check of an outgoing request, needs a package that is not installed. */
export class MissingToolPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, options?: { readonly cause?: unknown }) {
    super(`This needs the package ${packageName}: run "npm install ${packageName}".`, options);
    this.packageName = packageName;
  }
}

/** A package that is being loaded, or what to install instead. @throws MissingToolPackageError */
export async function loadToolPackage<M>(packageName: string, loading: Promise<M>): Promise<M> {
  try {
    return await loading;
  } catch (cause) {
    throw new MissingToolPackageError(packageName, { cause });
  }
}
