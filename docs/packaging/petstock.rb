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

  def install
    bin.install Dir["petstock-*"].first => "petstock"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/petstock --version").strip
  end
end
