import { PetrichorError } from '../core/index.ts';

/**
 * The server needs an optional package that is not installed.
 * @remedy Run `npm install` with the package in `packageName`.
 */
export class MissingServerPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, cause: unknown) {
    super(`The server requires ${packageName}. Run "npm install ${packageName}".`, { cause });
    this.packageName = packageName;
  }
}

/**
 * Awaits the import of an optional package.
 * @throws MissingServerPackageError when the package is not installed
 */
export async function loadServerPackage<T>(packageName: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    throw new MissingServerPackageError(packageName, error);
  }
}
