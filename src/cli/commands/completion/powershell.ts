/** For Windows PowerShell 5.1 and PowerShell 7. */
export const powershellScript = `# PowerShell completion for petstock
Register-ArgumentCompleter -Native -CommandName petstock -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { $_.Extent.Text.Trim('"', "'") })
    $lines = @(& petstock __complete powershell ":$wordToComplete" @words 2>$null)
    # Where nothing comes back, PowerShell proposes files.
    if ($lines.Count -eq 0) { return }
    if ($lines.Count -eq 1) { if ($lines[0].StartsWith('files')) { return } else { return '' } }
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $about = $_.Split([char]9, 2)
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`;
