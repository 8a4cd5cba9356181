/** What build.ts is told, and what it says. */
import type { GeoSource } from '../../kit/services.ts';

export interface BuildOrder {
  /** paths without their endings: .mmdb and .json are written */
  out: string;
  /** files of the owner that count; of two that say the same the first */
  own: string[];
  /** what comes with the program counts, too */
  hasPackages: boolean;
}
export interface Built {
  sources: GeoSource[];
  /** of the owner's files, in their order: which layers each says something of */
  own: GeoSource['layer'][][];
  networks: number;
}

/** What stands for what nobody knows, so that a name server that goes by these fields always finds one. */
export const unknownCode = '-';
