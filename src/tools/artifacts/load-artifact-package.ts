import { PetrichorError } from '../../core/index.ts';

/** An artifact service needs a package that is not installed. Nothing else of Petrichor does. */
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

/** A package that is being loaded, or what to install instead. @throws MissingArtifactPackageError */
export async function loadArtifactPackage<M>(packageName: string, loading: Promise<M>): Promise<M> {
  try {
    return await loading;
  } catch (cause) {
    throw new MissingArtifactPackageError(packageName, { cause });
  }
}
