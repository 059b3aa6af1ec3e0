import { PetrichorError } from '../../core/index.ts';

/**
 * The files of the developer console are not there: the package was built without them.
 * @remedy In a checkout of the repository, run `npm ci && npm run build` in `console/`. Otherwise install the package again.
 */
export class ConsoleFilesMissingError extends PetrichorError {
  override readonly code = 'console_files_missing' as const;

  constructor(folder: string) {
    super(
      `The files of the console are missing: ${folder} has no index.html. Run npm ci && npm run build in console/, or install the package again.`,
    );
  }
}
