/** Takes the text of a file piece by piece, and hands out what it has understood. */
export interface RowReader {
  /**
   * @param text the next piece; none ends between the CR and the LF of one line end
   * @throws BrokenFileError where nothing after can be understood
   */
  write(text: string): void;
  /** The file has ended. @throws BrokenFileError */
  end(): void;
}
