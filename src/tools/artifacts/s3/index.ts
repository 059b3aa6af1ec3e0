export { MissingArtifactPackageError } from '../load-artifact-package.ts';
export { S3ArtifactService, type S3ArtifactOptions } from './s3-artifact-service.ts';
