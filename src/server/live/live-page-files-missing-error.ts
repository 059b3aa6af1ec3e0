import { PetrichorError } from '../../core/index.ts';

/**
 * The files of the page of live sessions are not there: the package was built without them.
 * @remedy In a checkout of the repository, run `npm run console:build`. Otherwise install the package again.
 */
export class LivePageFilesMissingError extends PetrichorError {
  override readonly code = 'live_page_files_missing' as const;

  constructor(folder: string) {
    super(
      `The files of the live page are missing: ${folder} has no index.html. Run npm run console:build, or install the package again.`,
    );
  }
}
