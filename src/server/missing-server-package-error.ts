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
