import { PetrichorError } from '../../core/index.ts';

/**
 * An artifact service needs an optional package that is not installed.
 * @remedy Run `npm install` with the package in `packageName`.
 */
export class MissingArtifactPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, options?: { readonly cause?: unknown }) {
    super(
      `This artifact service needs the package ${packageName}: run "npm install ${packageName}".`,
      options,
    );
    this.packageName = packageName;
  }
}
