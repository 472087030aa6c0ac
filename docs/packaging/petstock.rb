class Petstock < Formula
  desc "{{description}}"
  homepage "{{homepage}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{downloads}}/petstock-darwin-arm64.tar.gz"
      sha256 "{{petstock-darwin-arm64.tar.gz}}"
    end
    on_intel do
      url "{{downloads}}/petstock-darwin-x64.tar.gz"
      sha256 "{{petstock-darwin-x64.tar.gz}}"
    end
  end

  on_linux do
    on_arm do
      url "{{downloads}}/petstock-linux-arm64.tar.gz"
      sha256 "{{petstock-linux-arm64.tar.gz}}"
    end
    on_intel do
      url "{{downloads}}/petstock-linux-x64.tar.gz"
      sha256 "{{petstock-linux-x64.tar.gz}}"
    end
  end

  def install
    bin.install "petstock"
    man1.install "petstock.1"
    generate_completions_from_executable(bin/"petstock", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/petstock --version").strip
    assert_match "available", shell_output("#{bin}/petstock --env sandbox inventory get 4 2>/dev/null")
  end
end
