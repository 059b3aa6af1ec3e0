import { PetrichorError } from '../core/index.ts';

/**
 * The server needs an optional package that is not installed.
 * @remedy Run `npm install hono @hono/node-server`.
 */
export class MissingServerPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, cause: unknown) {
    super(
      `The server requires ${packageName}. Run "npm install hono @hono/node-server": it needs both.`,
      { cause },
    );
    this.packageName = packageName;
  }
}
