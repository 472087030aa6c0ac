class Petstock < Formula
  desc "{{description}}"
  homepage "{{homepage}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{downloads}}/petstock-darwin-arm64"
      sha256 "{{petstock-darwin-arm64}}"
    end
    on_intel do
      url "{{downloads}}/petstock-darwin-x64"
      sha256 "{{petstock-darwin-x64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{downloads}}/petstock-linux-arm64"
      sha256 "{{petstock-linux-arm64}}"
    end
    on_intel do
      url "{{downloads}}/petstock-linux-x64"
      sha256 "{{petstock-linux-x64}}"
    end
  end

  resource "manual" do
    url "{{downloads}}/petstock.1"
    sha256 "{{petstock.1}}"
  end

  def install
    bin.install Dir["petstock-*"].first => "petstock"
    # A file that is downloaded can not be run: Homebrew makes it so only once this has ended.
    chmod 0755, bin/"petstock"
    generate_completions_from_executable(bin/"petstock", "completion", shells: [:bash, :zsh, :fish])
    resource("manual").stage { man1.install "petstock.1" }
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/petstock --version").strip
    assert_match "available", shell_output("#{bin}/petstock --env sandbox inventory get 4 2>/dev/null")
  end
end
