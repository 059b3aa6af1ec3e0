import { PetrichorError } from '../core/index.ts';

/**
 * A built-in tool, or the check of an outgoing request, needs an optional package that is not installed.
 * @remedy Run `npm install` with the package in `packageName`.
 */
export class MissingToolPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, options?: { readonly cause?: unknown }) {
    super(`The package ${packageName} is required. Run "npm install ${packageName}".`, options);
    this.packageName = packageName;
  }
}
