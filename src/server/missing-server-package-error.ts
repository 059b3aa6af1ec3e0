import { PetrichorError } from '../core/index.ts';

/** The server needs a package that is not installed. */
export class MissingServerPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, cause: unknown) {
    super(`The server needs ${packageName}: npm install ${packageName}`, { cause });
    this.packageName = packageName;
  }
}

/** @throws MissingServerPackageError */
export async function loadServerPackage<T>(packageName: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    throw new MissingServerPackageError(packageName, error);
  }
}
